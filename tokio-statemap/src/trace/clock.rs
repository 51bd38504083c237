//! What became of the clock while it was recorded.

use crate::recorder::clock::Clock;

/// What became of the clock while it was recorded. Times are right all the same, except where it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClockChanges {
    /// How often the processor's time stamp counter jumped against `Instant`: mostly because the machine slept.
    pub jumps: u64,
    /// By how much in all, in ns.
    pub jumped_ns: u64,
    /// Whether the counter went back, as it may when the machine slept. Times are of `Instant` since; polls of about a
    /// tenth of a second around it may have wrong ones.
    pub went_back: bool,
    /// Whether the kernel gave the counter up as a clock source, so that times may differ between processors.
    pub lost_source: bool,
}

impl ClockChanges {
    pub(crate) fn of(clock: &Clock) -> Self {
        let account = clock.account();
        Self {
            jumps: account.jumps,
            jumped_ns: account.jumped_ns,
            went_back: account.went_back,
            lost_source: clock.has_lost_source(),
        }
    }

    /// Whether there is anything to say.
    pub(crate) fn are_any(&self) -> bool {
        *self != Self::default()
    }
}
