//! Statemap data: a [`Timeline`] in the format of the statemap renderer.
//!
//! The format is concatenated JSON: one object of metadata, then one object for each change of state, with
//! tag definitions in between. [`write_tasks`] and [`write_workers`] write it from a timeline. With the
//! feature `read`, [`read`](read::read) reads such data of any program, and [`recordings`] turns this crate's
//! own data into timelines again.
//!
//! Imports point down this list, or from a child to its parent, which `tests/tests/repository/layers.rs` checks:
//!
//! 1. Terms: `intern`, `labels`, `run`; then `format`.
//! 2. `write`, whose tags `read` knows.
//! 3. `read`: what a file has. `timeline`, `align`: what it means.
//! 4. `check`, `cut`, `renew`: what is done with files.

mod align;
#[cfg(feature = "read")]
pub mod check;
#[cfg(feature = "read")]
mod cut;
mod format;
#[cfg(feature = "read")]
mod intern;
mod labels;
#[cfg(all(test, feature = "read"))]
mod long_poll_tests;
#[cfg(all(test, feature = "read"))]
mod profile_tests;
#[cfg(feature = "read")]
pub mod read;
#[cfg(all(feature = "symbols", feature = "read"))]
pub(crate) mod renew;
#[cfg(all(test, feature = "read"))]
mod requests_tests;
mod run;
#[cfg(all(test, feature = "read"))]
mod summary_tests;
#[cfg(all(test, feature = "read"))]
mod tests;
#[cfg(feature = "read")]
mod timeline;
#[cfg(all(test, feature = "read"))]
mod timeline_tests;
#[cfg(all(test, feature = "read"))]
mod wait_tests;
mod write;

use std::io;

use crate::error::Error;
use crate::trace::timeline::Timeline;

pub(crate) use align::Alignment;
#[cfg(feature = "read")]
pub use cut::cut;
#[cfg(feature = "read")]
pub use format::{Datum, TagDefinition};
pub use format::{Metadata, State};
pub use labels::Labels;
pub(crate) use labels::host_name;
#[cfg(all(feature = "html", feature = "read"))]
pub(crate) use read::rows::{Change, Rows, TaskRow, Waker};
#[cfg(feature = "read")]
pub use timeline::{Recording, recordings};
#[cfg(feature = "html")]
pub(crate) use write::without_rows;
pub use write::{write_tasks, write_workers};

/// A timeline that is ready to be written as statemap data.
///
/// The same timeline always gives the same bytes.
#[derive(Clone, Debug)]
pub struct StatemapData {
    timeline: Timeline,
    labels: Labels,
}

impl StatemapData {
    /// Creates data of `timeline`, with `labels`.
    pub fn new(timeline: Timeline, labels: Labels) -> Self {
        Self { timeline, labels }
    }

    /// Returns the timeline of the data.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Writes the tasks to `w`, through a buffer of its own.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if `w` fails.
    pub fn write_tasks(&self, w: impl io::Write) -> Result<(), Error> {
        Ok(write_tasks(&self.timeline, &self.labels, w)?)
    }

    /// Writes the workers to `w`, through a buffer of its own.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if `w` fails.
    pub fn write_workers(&self, w: impl io::Write) -> Result<(), Error> {
        Ok(write_workers(&self.timeline, &self.labels, w)?)
    }

    /// Returns the tasks as bytes.
    ///
    /// # Errors
    ///
    /// None that is known: memory does not fail like a file does.
    pub fn tasks_to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.write_tasks(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns the workers as bytes.
    ///
    /// # Errors
    ///
    /// None that is known: memory does not fail like a file does.
    pub fn workers_to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.write_workers(&mut bytes)?;
        Ok(bytes)
    }
}

impl Timeline {
    /// Returns statemap data of the timeline, labelled with the name of this program and host. It copies the timeline:
    /// [`into_data`](Self::into_data) and [`write_tasks`] don't. Only programs that call it compile the copying.
    // Only programs that call it compile the copying of a timeline.
    #[inline]
    pub fn to_data(&self) -> StatemapData {
        self.clone().into_data()
    }

    /// Returns statemap data of the timeline, labelled with the name of this program and host.
    pub fn into_data(self) -> StatemapData {
        StatemapData::new(self, Labels::of_this_program())
    }
}
