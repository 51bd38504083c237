//! The report: what held the runtime up, on one screen.
//!
//! [`Timeline::report`](crate::Timeline::report) returns it as data, and the `Display` of [`Report`] is the text: at
//! most about 40 lines of 80 columns, which begin with a [`Verdict`].

mod computed;
mod critical_path;
#[cfg(feature = "read")]
mod foreign;
mod issues;
pub(super) mod layout;
mod profile;
#[cfg(has_requests)]
mod requests;
mod run;
mod runtimes;
mod still_waiting;
pub(crate) mod terminal;
mod waits;

#[cfg(test)]
mod tests;

#[cfg(has_requests)]
pub(super) use requests::shares;
pub(crate) use runtimes::of_runtimes;

#[cfg(feature = "read")]
pub use crate::analysis::foreign::{DataReport, GroupTime, Span, StateTime};
pub use crate::analysis::{
    Besides, BusyWorkers, Computed, ComputedIn, Contended, Counts, CriticalPath, Culprit, Delay,
    Evidence, Explanation, Healthy, Holder, InPlace, Issue, Lengths, LetGo, LocalTasks,
    LocationRow, LocationRuns, LongPoll, LongPollBlame, LongPollIssue, MaybeLeaked, NeverFinished,
    OwnThreads, PathPart, PathState, Place, PoolShortage, Recording, Report, SeenBeside, Stall,
    Starved, StillWaiting, Stuck, Unattributed, Verdict, WaitRow, Waits, WhyNever, WorkerShare,
};
