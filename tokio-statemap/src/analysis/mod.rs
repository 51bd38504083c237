//! What a timeline or a file's data means, worked out once for every output.

#[cfg(feature = "read")]
pub(crate) mod foreign;
mod locations;
mod long_polls;
#[cfg_attr(not(feature = "html"), allow(dead_code, reason = "some of it only the page shows"))]
pub mod picture;
mod place;
mod report;
mod unknown;
mod verdict;
mod workers;

pub use locations::LocationRow;
pub use long_polls::LongPoll;
pub use place::Place;
pub use report::Report;
pub use verdict::Verdict;
pub use workers::WorkerShare;
pub(crate) use workers::busy_share;
