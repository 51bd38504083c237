//! The state of a thread at the record up to which its records are added up.

use crate::recorder::memory::sums::worker::{Claim, Does};
use crate::recorder::record::reader::{OpenPoll, ThreadState};
use crate::recorder::store::segment::StreamId;

/// The data of a poll that still runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub(super) row: u32,
    pub(super) worker: Option<u32>,
    /// The time when its worker was given to another thread, in ticks.
    pub(super) held_until: Option<u64>,
}

/// A poll of a row.
pub(super) type PollOfRow = OpenPoll<Begun>;

#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) state: ThreadState<Begun>,
    pub(super) acts: Acts,
    /// The number of its next records that were there at a reset.
    pub(super) before_reset: usize,
}

/// The activity of a thread as a worker.
#[derive(Clone, Debug, Default)]
pub(super) struct Acts {
    /// The worker that it claimed last in this window, and the activity that it claimed.
    claimed: Option<(u32, Does)>,
    /// The worker as which it acted last in this window.
    last_worker: Option<u32>,
    pub(super) started: Option<u64>,
    /// `true` if it has done anything since it started.
    pub(super) is_used: bool,
}

impl Acts {
    /// Notes what it does as its worker, if it is one.
    #[inline]
    pub(super) fn add(
        &mut self,
        worker: Option<u32>,
        (at, does): (u64, Does),
        stream: StreamId,
        claims: &mut Vec<Claim>,
    ) {
        if let Some(worker) = worker {
            if self.claimed != Some((worker, does)) {
                self.claim(Claim { worker, at, stream, does, number: 0 }, claims);
            }
        }
    }

    /// Returns whether nothing changes if it runs as this worker.
    #[inline]
    pub(super) fn runs_as(&self, worker: Option<u32>) -> bool {
        self.is_used && self.claimed == worker.map(|worker| (worker, Does::Run))
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

    /// Forgets what it claimed, as a task terminated here outside of a poll: it may be the run loop of its worker. What
    /// the thread does next as a worker is another claim.
    pub(super) fn forget_claim(&mut self) {
        self.claimed = None;
    }

    /// Called as recording begins anew: in between, the thread may have lost its worker.
    pub(super) fn enter_window(&mut self) {
        (self.claimed, self.last_worker) = (None, None);
    }
}

#[cfg(has_black_box)]
crate::util::plain::plain! {
    Begun { row, worker, held_until }
    Thread { state, acts, before_reset }
    Acts { claimed, last_worker, started, is_used }
}
