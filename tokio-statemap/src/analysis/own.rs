//! How long a poll took by its own doing: the one definition of a poll's length, in all outputs.
//!
//! A poll holds its worker for its wall time. What the machine took of that, and what it waited for locks of the
//! runtime's, isn't its own: own time ranks polls, and is said of them. The wall time stands beside it where it differs.

use std::time::Duration;

use super::blame::in_runtime_ns;
use super::long_polls;
use crate::recorder::watch::LEAST_AGE;
use crate::trace::timeline::{Poll, Timeline};

/// Which part of a poll's length the measure of what the machine took may be wrong by.
const SLACK_PART: u64 = 20;

/// What became of the time for which a poll held its worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    length_ns: u64,
    /// How long the machine took the processor.
    pub(super) taken_ns: u64,
    /// How long it waited for locks of the runtime's own.
    pub(super) waited_ns: u64,
}

/// How long a poll took by its own doing, in ns.
pub(super) fn own_ns(timeline: &Timeline, poll: &Poll) -> u64 {
    Own::of(timeline, poll).own_ns()
}

impl Own {
    pub(super) fn of(timeline: &Timeline, poll: &Poll) -> Self {
        let length_ns = long_polls::length_ns(timeline, poll);
        // Nothing is known of shorter ones; there may be millions of these.
        if u128::from(length_ns) < timeline.long_poll.min(LEAST_AGE).as_nanos() {
            return Self { length_ns, taken_ns: 0, waited_ns: 0 };
        }
        let end_ns = poll.start_ns().saturating_add(length_ns);
        let taken_ns = timeline.cause(poll).map_or(0, |cause| cause.taken_ns()).min(length_ns);
        let waited_ns = in_runtime_ns(timeline, poll, end_ns).min(length_ns - taken_ns);
        Self { length_ns, taken_ns, waited_ns }
    }

    /// How long it took by its own doing.
    pub(super) fn own_ns(self) -> u64 {
        self.length_ns - self.taken_ns - self.waited_ns
    }

    /// Whether that is certainly longer than `limit`.
    pub(super) fn is_over(self, limit: Duration) -> bool {
        // What was taken is measured near a poll's edges, not at them.
        let slack_ns = if self.taken_ns > 0 { self.length_ns / SLACK_PART } else { 0 };
        u128::from(self.own_ns().saturating_sub(slack_ns)) > limit.as_nanos()
    }
}
