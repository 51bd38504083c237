//! The own time of a poll: the one definition of a poll's length, in all outputs.
//!
//! A poll holds its worker for its wall time. Its own time excludes the part that the machine took, and the part that
//! the poll waited for locks of the runtime's. Polls are ranked by own time; the wall time stands beside it where it
//! differs.

use std::time::Duration;

use super::blame::internal_ns;
use super::poll;
use crate::recorder::watch::LEAST_AGE;
use crate::trace::timeline::{Poll, Timeline};

/// The error of the time that the machine took, as 1/n of a poll's length.
const SLACK_PART: u64 = 20;

/// The time that a poll held its worker, split by how it was spent.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnTime {
    length_ns: u64,
    /// The time for which the machine took the processor.
    pub(super) taken_ns: u64,
    /// The time that the poll waited for locks of the runtime's own.
    pub(super) waited_ns: u64,
}

/// Returns the own time of a poll, in ns.
pub(super) fn own_ns(timeline: &Timeline, poll: &Poll) -> u64 {
    OwnTime::from_poll(timeline, poll).own_ns()
}

impl OwnTime {
    pub(super) fn from_poll(timeline: &Timeline, poll: &Poll) -> Self {
        let length_ns = poll::length_ns(timeline, poll);
        // Nothing is known about shorter polls, of which there may be millions.
        if u128::from(length_ns) < timeline.settings.long_poll.min(LEAST_AGE).as_nanos() {
            return Self { length_ns, taken_ns: 0, waited_ns: 0 };
        }
        let end_ns = poll.start_ns().saturating_add(length_ns);
        let taken_ns = timeline.cause(poll).map_or(0, |cause| cause.taken_ns()).min(length_ns);
        let waited_ns = internal_ns(timeline, poll, end_ns).min(length_ns - taken_ns);
        Self { length_ns, taken_ns, waited_ns }
    }

    /// Returns the own time, in ns.
    pub(super) fn own_ns(self) -> u64 {
        self.length_ns - self.taken_ns - self.waited_ns
    }

    /// Returns whether the own time is certainly longer than `limit`.
    pub(super) fn is_over(self, limit: Duration) -> bool {
        // The time taken is measured near a poll's edges, not at them.
        let slack_ns = if self.taken_ns > 0 { self.length_ns / SLACK_PART } else { 0 };
        u128::from(self.own_ns().saturating_sub(slack_ns)) > limit.as_nanos()
    }
}
