//! The time of each worker, by activity.

use crate::recorder::store::segment::StreamId;

/// The activity of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Does {
    Run,
    Park,
    Stop,
}

/// A claim of a worker by a thread that acted as it. Times are in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) worker: u32,
    pub(super) at: u64,
    pub(super) stream: StreamId,
    pub(super) does: Does,
    /// Its place before sorting: claims of one thread at the same time stay in order.
    pub(super) number: u32,
}

/// The sums of a worker. Times are in ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkerSums {
    pub(crate) running: u64,
    pub(crate) parked: u64,
    pub(crate) parks: u64,
    /// The number of polls that began on it.
    pub(crate) polls: u64,
    /// The thread that last was this worker.
    owner: Option<StreamId>,
    does: Option<Does>,
    /// The time up to which its time is added up.
    since: u64,
    /// Its activity before it stopped, and the time up to which that is added up.
    before_stop: Option<(Does, u64)>,
}

impl WorkerSums {
    /// Applies the next claim in the order of time. Nothing before `from` is added up.
    pub(super) fn claimed(&mut self, claim: Claim, from: u64) {
        let before = self.owner.replace(claim.stream);
        if claim.does == Does::Stop && before.is_some_and(|before| before != claim.stream) {
            // The worker moved to another thread: the end of this thread is not the worker's.
            self.owner = before;
            return;
        }
        // A worker that acts again had not stopped.
        if let (Some(Does::Stop), Some((does, since))) = (self.does, self.before_stop) {
            (self.does, self.since) = (Some(does), since);
        }
        if self.does != Some(claim.does) {
            self.add_up(claim.at, from);
            self.before_stop = self.does.map(|does| (does, self.since));
            (self.does, self.since) = (Some(claim.does), claim.at.max(self.since));
        }
    }

    /// Adds up its time until `to`.
    pub(super) fn add_up(&mut self, to: u64, from: u64) {
        let time = to.saturating_sub(self.since.max(from));
        match self.does {
            Some(Does::Run) => self.running = self.running.wrapping_add(time),
            Some(Does::Park) => self.parked = self.parked.wrapping_add(time),
            Some(Does::Stop) | None => {}
        }
        self.since = self.since.max(to);
    }

    /// Skips the time until `from`, about which nothing is known.
    pub(super) fn skip_to(&mut self, from: u64) {
        self.since = self.since.max(from);
        if let Some((_, since)) = &mut self.before_stop {
            *since = from.max(*since);
        }
    }

    /// Forgets all that was added up.
    pub(super) fn reset(&mut self) {
        (self.running, self.parked, self.parks, self.polls) = (0, 0, 0, 0);
    }
}

#[cfg(has_black_box)]
crate::util::plain::plain! {
    WorkerSums { running, parked, parks, polls, owner, does, since, before_stop }
}

#[cfg(has_black_box)]
crate::util::plain::plain_enum! {
    Does { Run, Park, Stop }
}
