//! Works out what a timeline or a file's data means, once for every output.
//!
//! Imports point down this list, or from a child to its parent, which `tests/tests/repository/layers.rs` checks:
//!
//! 1. Terms: `place`, `lengths`, `recording`, `workers`, `spelling`, `spots`, `usual`.
//! 2. A single poll: `poll`, `request`, `blocking_cause`, `delay`, `blame`, `resumed`, `beside`, `let_go`, `own_time`,
//!    `long_polls`.
//! 3. All polls and waits: `locations`, `recent`, `waiting_now`, `sampled`, `culprits`, `computed`, `whole_run`, `waits`, `trees`, `overdue`,
//!    `blockers`, `runs`.
//! 4. What is said of them: `statement`, `critical_path`, `issues`, `verdict`, `report`.
//! 5. Views of a report: `severity`, `polls`, `limits`, `compare`, `picture`; and `foreign` and `awaits`, which need
//!    none.

#[cfg(feature = "cli")]
pub(crate) mod awaits;
mod behind_lock;
mod beside;
mod blame;
mod blockers;
mod blocking_cause;
#[cfg(feature = "read")]
pub(crate) mod compare;
mod computed;
mod critical_path;
mod culprits;
mod delay;
#[cfg(feature = "read")]
pub(crate) mod foreign;
mod issues;
mod lengths;
mod let_go;
pub(crate) mod limits;
mod local_tasks;
mod locations;
mod long_polls;
#[cfg(feature = "html")]
pub(crate) mod overdue;
mod own_time;
#[cfg_attr(
    not(all(feature = "html", feature = "svg")),
    allow(dead_code, reason = "some of it only the page shows, or only the SVG")
)]
pub mod picture;
mod place;
mod poll;
#[cfg(feature = "read")]
pub(crate) mod polls;
#[cfg_attr(
    not(all(has_black_box, feature = "read")),
    allow(dead_code, reason = "some of it only the command shows")
)]
pub(crate) mod recent;
mod recording;
mod report;
mod request;
mod resumed;
mod runs;
mod sampled;
pub(crate) mod severity;
pub(crate) mod spelling;
mod spots;
mod statement;
mod trees;
mod usual;
mod verdict;
pub(crate) mod waiting_now;
mod waits;
mod whole_run;
mod workers;

pub use beside::SeenBeside;
pub use computed::{Computed, ComputedIn};
pub use critical_path::{CriticalPath, PathPart, PathState};
pub use culprits::{Culprit, LongPollBlame, Unattributed};
pub use delay::Delay;
pub use issues::{
    Besides, BusyWorkers, Contended, Evidence, Explanation, InPlace, Issue, LongPollIssue,
    MaybeLeaked, NeverFinished, OwnThreads, PoolShortage, Stall, Starved, Stuck, WhyNever,
};
pub use lengths::Lengths;
pub use let_go::LetGo;
pub use local_tasks::LocalTasks;
pub use locations::LocationRow;
pub use long_polls::LongPoll;
pub use place::Place;
pub(crate) use place::source_line;
pub use recording::Recording;
pub use report::{Counts, Report};
pub use runs::LocationRuns;
pub(crate) use statement::{Statement, function_name};
pub use trees::{StillWaiting, TaskTree, TreeFrame, TreeGroup, TreePlace};
pub use verdict::{Healthy, Verdict};
#[cfg(feature = "read")]
pub(crate) use waits::place_label;
pub use waits::{Holder, WaitRow, Waits};
#[cfg(feature = "parquet")]
pub(crate) use waits::{for_each_wait, line_of};
pub use workers::WorkerShare;
pub(crate) use workers::busy_share;
