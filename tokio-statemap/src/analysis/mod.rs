//! What a timeline or a file's data means, worked out once for every output.

mod act;
mod asked_for;
#[cfg(feature = "cli")]
pub(crate) mod awaits;
mod blame;
pub(crate) mod compare;
mod culprits;
#[cfg(feature = "read")]
pub(crate) mod foreign;
mod harm;
pub(crate) mod headline;
mod issues;
pub(crate) mod limits;
mod locations;
mod long_polls;
mod machine;
mod own;
#[cfg_attr(not(feature = "html"), allow(dead_code, reason = "some of it only the page shows"))]
pub mod picture;
mod place;
#[cfg(feature = "read")]
pub(crate) mod polls;
mod report;
mod spelling;
mod trees;
mod unknown;
mod verdict;
mod waits;
mod whole_run;
mod witness;
mod workers;

pub use culprits::{Culprit, Excused};
pub use harm::Delay;
pub use issues::{
    Issue, IssueKind, Lengths, MaybeLeaked, NeverFinished, Stall, Starved, Stuck, WhyNever,
};
pub use locations::LocationRow;
pub use long_polls::LongPoll;
pub use place::Place;
pub(crate) use place::source_line;
pub use report::Report;
pub use trees::{StillWaiting, TaskTree, TreeFrame, TreeGroup, TreePlace};
pub use verdict::Verdict;
#[cfg(feature = "read")]
pub(crate) use waits::place_label;
pub use waits::{Holder, WaitRow, Waits};
#[cfg(feature = "parquet")]
pub(crate) use waits::{for_each_wait, line_of};
pub use workers::WorkerShare;
pub(crate) use workers::busy_share;
