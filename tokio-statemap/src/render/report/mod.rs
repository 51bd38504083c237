//! The report: who held the runtime up, on one screen.
//!
//! [`Timeline::report`](crate::Timeline::report) works it out as data, and the `Display` of [`Report`]
//! is the text: at most about 40 lines of 80 columns that open with a [`Verdict`].

mod findings;
#[cfg(feature = "read")]
mod foreign;
mod issues;
pub(super) mod layout;
mod profile;
mod run;
mod still_waiting;
pub(crate) mod terminal;
mod verdict;
mod waits;

#[cfg(test)]
mod tests;

#[cfg(feature = "read")]
pub use crate::analysis::foreign::{DataReport, GroupTime, Span, StateTime};
pub use crate::analysis::{
    Culprit, Delay, Excused, Holder, Issue, IssueKind, Lengths, LocationRow, LongPoll, MaybeLeaked,
    NeverFinished, Place, Report, Stall, Starved, StillWaiting, Stuck, Verdict, WaitRow, Waits,
    WhyNever, WorkerShare,
};
