//! Reads statemap data, of this crate or any other program.

pub(super) mod facts;
pub(super) mod field;
pub(super) mod long_polls;
mod metadata;
mod part;
mod plain;
mod profile;
mod record;
pub(super) mod records;
mod requests;
#[cfg(feature = "html")]
pub(super) mod rows;
pub(super) mod run;
mod summary;
#[cfg(test)]
mod tests;
mod unnamed;
pub(super) mod value;
pub(super) mod waits;

use std::io;

pub use crate::error::ReadError;
use crate::statemap::format::{Datum, Metadata, TagDefinition};
use crate::trace::timeline::TaskKey;
pub(super) use record::Reader;
use records::RecordStream;
use run::Run;

/// Statemap data that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statemap {
    /// The title, the start, the host and the states.
    pub metadata: Metadata,
    /// The entities, in the order in which they were first named.
    pub entities: Vec<Entity>,
    /// The tags, in the order in which they were first named. Tags that describe a run in this crate's own
    /// data are not included.
    pub tags: Vec<TagDefinition>,
    /// The events, in the order of the data.
    pub events: Vec<EntityEvent>,
    /// The latest time of a datum, in ns; 0 if there is none. States that last to the end last until this time.
    pub end_ns: u64,
    /// The description of the run, in this crate's own data.
    pub(crate) run: Option<Box<Run>>,
    /// `true` if the data was cut.
    pub(crate) is_part: bool,
}

/// One row of the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entity {
    /// Its name.
    pub name: String,
    /// A description of it.
    pub description: Option<String>,
    /// Its changes of state, by rising time.
    pub data: Vec<Datum>,
    /// The task that spawned it, if it is a task of a run.
    pub(crate) parent: Option<TaskKey>,
}

/// An event of an entity that changed no state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntityEvent {
    /// The time, in ns.
    pub time_ns: u64,
    /// The entity, as an index into [`Statemap::entities`].
    pub entity: usize,
    /// The event.
    pub event: String,
    /// The target of the event.
    pub target: Option<String>,
}

/// Reads statemap data. The whole result is in memory; the data itself isn't.
///
/// Records may have any white space between them, and up to 8 MiB each. Data that the reference renderer
/// refuses or drops (an unknown state, times that don't advance within an entity, a time that is no string, a
/// truncated end) is an error here.
///
/// # Errors
///
/// If `r` fails, or if the data breaks a rule of the format; the error says where, what is there
/// and what would be right.
///
/// # Examples
///
/// ```
/// use tokio_statemap::statemap::read::read;
///
/// let data = br#"{"start":[0,0],"title":"cpus","states":{"idle":{"value":0},"busy":{"value":1}}}
/// {"time":"0","entity":"cpu-0","state":0}
/// {"time":"70","entity":"cpu-0","state":1}
/// "#;
/// let statemap = read(&data[..])?;
/// assert_eq!(statemap.entities[0].name, "cpu-0");
/// assert_eq!(statemap.entities[0].data[1].time_ns, 70);
///
/// let error = read(&data[..data.len() - 5]).unwrap_err();
/// assert!(error.to_string().starts_with("line 3, byte 120: the data is truncated"));
/// # Ok::<(), tokio_statemap::statemap::read::ReadError>(())
/// ```
pub fn read(r: impl io::Read) -> Result<Statemap, ReadError> {
    let mut records = RecordStream::new(r);
    let (mut reader, _) = Reader::open(&mut records)?;
    reader.read_rest(&mut records)?;
    let end = records.here();
    reader.finish().map_err(|problem| end.error(problem))
}
