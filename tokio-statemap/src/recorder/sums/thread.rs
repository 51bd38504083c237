//! What is known of a thread where its records were added up to.

use crate::recorder::live_tasks::LocationId;
use crate::recorder::store::segment::StreamId;
use crate::recorder::sums::worker::{Claim, Does};

/// A poll that goes on. Times are in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenPoll {
    pub(super) task: u64,
    pub(super) row: u32,
    pub(super) start: u64,
    pub(super) ready_ns: Option<u64>,
    pub(super) worker: Option<u32>,
    /// When its worker was given to another thread.
    pub(super) held_until: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) worker: Option<u32>,
    /// The polls that it is in, the inner last.
    pub(super) polls: Vec<OpenPoll>,
    /// How many of its next records were there at a reset.
    pub(super) before_reset: usize,
    pub(super) location: Option<LocationId>,
    pub(super) ready_ns: Option<u64>,
    /// What it claimed last in this window, and what its worker did then.
    pub(super) claimed: Option<(u32, Does)>,
    /// As which worker it acted last in this window.
    last_worker: Option<u32>,
    pub(super) started: Option<u64>,
    /// Whether it has done anything since it started.
    pub(super) is_used: bool,
}

impl Thread {
    /// It acts as its worker, if it is one.
    #[inline]
    pub(super) fn acts(&mut self, at: u64, does: Does, stream: StreamId, claims: &mut Vec<Claim>) {
        if let Some(worker) = self.worker {
            if self.claimed != Some((worker, does)) {
                self.claim(Claim { worker, at, stream, does, number: 0 }, claims);
            }
        }
    }

    /// Whether nothing changes if it acts as it did last.
    #[inline]
    pub(super) fn runs(&self) -> bool {
        self.is_used && self.claimed == self.worker.map(|worker| (worker, Does::Run))
    }

    #[inline(never)]
    fn claim(&mut self, claim: Claim, claims: &mut Vec<Claim>) {
        // A thread of the pool that did nothing before was started to be this worker.
        if let (Some(at), false, None) = (self.started, self.is_used, self.last_worker) {
            claims.push(Claim { at, does: Does::Run, ..claim });
        }
        if let Some(before) = self.last_worker.filter(|before| *before != claim.worker) {
            // It was given another worker's loop to run.
            claims.push(Claim { worker: before, does: Does::Stop, ..claim });
        }
        self.claimed = Some((claim.worker, claim.does));
        self.last_worker = Some(claim.worker);
        claims.push(claim);
    }

    /// A task terminated here.
    pub(super) fn terminated(&mut self) {
        if self.polls.is_empty() {
            // It may be the run loop of its worker: what it does next as a worker is another claim.
            self.claimed = None;
        }
    }

    /// Recording began anew: in between it may have lost its worker.
    pub(super) fn enter_window(&mut self) {
        (self.claimed, self.last_worker) = (None, None);
    }
}
