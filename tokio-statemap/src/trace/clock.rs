//! Irregularities of the clock during a recording.

use crate::recorder::clock::Account;

/// The irregularities of the clock during a recording. Times are correct all the same, except where
/// a field says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClockChanges {
    /// The number of jumps of the processor's time stamp counter relative to `Instant`, mostly
    /// because the machine slept.
    pub jumps: u64,
    /// The sum of the jumps, in ns.
    pub jumped_ns: u64,
    /// `true` if the counter went back, as it may when the machine slept. Times are taken from `Instant` since then.
    /// The times of polls within about a tenth of a second of that moment may be wrong.
    pub went_back: bool,
    /// `true` if the kernel stopped using the counter as a clock source, so that times may differ
    /// between processors.
    pub lost_source: bool,
}

impl ClockChanges {
    pub(crate) fn from_account(account: Account) -> Self {
        let Account { jumps, jumped_ns, went_back, lost_source } = account;
        Self { jumps, jumped_ns, went_back, lost_source }
    }

    /// Returns `true` if there is any irregularity.
    pub(crate) fn are_any(&self) -> bool {
        *self != Self::default()
    }
}
