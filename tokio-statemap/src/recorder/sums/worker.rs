//! What each worker did with its time.

use crate::recorder::store::segment::StreamId;

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Does {
    Run,
    Park,
    Stop,
}

/// A thread acted as a worker. Times are in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) worker: u32,
    pub(super) at: u64,
    pub(super) stream: StreamId,
    pub(super) does: Does,
    /// Its place among those that are sorted: what one thread claims at the same time stays in order.
    pub(super) number: u32,
}

/// The sums of a worker. Times are in ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkerSums {
    pub(crate) running: u64,
    pub(crate) parked: u64,
    pub(crate) parks: u64,
    /// How many polls began on it.
    pub(crate) polls: u64,
    /// The thread that was it last.
    owner: Option<StreamId>,
    does: Option<Does>,
    /// Up to when its time is added up.
    since: u64,
    /// What it did before it stopped, and up to when.
    before_stop: Option<(Does, u64)>,
}

impl WorkerSums {
    /// The next claim in the order of time. Nothing before `from` is added up.
    pub(super) fn claimed(&mut self, claim: Claim, from: u64) {
        let before = self.owner.replace(claim.stream);
        if claim.does == Does::Stop && before.is_some_and(|before| before != claim.stream) {
            // It moved to another thread: the end of this thread is not its end.
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
            Some(Does::Run) => self.running += time,
            Some(Does::Park) => self.parked += time,
            Some(Does::Stop) | None => {}
        }
        self.since = self.since.max(to);
    }

    /// Nothing is known of the time until `from`.
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
