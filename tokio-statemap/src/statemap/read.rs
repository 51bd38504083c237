//! Reads statemap data, ours or anyone's.

pub(super) mod facts;
pub(super) mod field;
pub(super) mod long_polls;
mod metadata;
pub(super) mod plain;
mod profile;
mod record;
pub(super) mod records;
#[cfg(feature = "html")]
pub(super) mod rows;
pub(super) mod run;
mod summary;
#[cfg(test)]
mod tests;
mod unnamed;
pub(super) mod waits;

use std::io;

pub use crate::error::ReadError;
use crate::statemap::format::{Datum, Metadata, TagDefinition};
use crate::trace::timeline::TaskKey;
use field::Object;
pub(super) use record::Reader;
use records::{Position, RecordStream, syntax_error};
use run::Run;

/// Statemap data that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statemap {
    /// Where it is from, and its states.
    pub metadata: Metadata,
    /// The entities, in the order in which they were first named.
    pub entities: Vec<Entity>,
    /// The tags, in the order in which they were first named. This crate's own data has some that say
    /// what a run was besides: they aren't among them.
    pub tags: Vec<TagDefinition>,
    /// The events, as they came.
    pub events: Vec<EntityEvent>,
    /// The latest time of a datum, in ns: what lasts, lasts until here. 0 without any.
    pub end_ns: u64,
    /// What the data of a run says beyond its rows.
    pub(crate) run: Option<Box<Run>>,
    /// Whether it was cut.
    pub(crate) is_part: bool,
}

/// One row of the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entity {
    /// Its name.
    pub name: String,
    /// What else was said of it.
    pub description: Option<String>,
    /// Its changes of state, by rising time.
    pub data: Vec<Datum>,
    /// Of a run's tasks: the task that spawned it.
    pub(crate) parent: Option<TaskKey>,
}

/// Something that happened to an entity and changed no state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntityEvent {
    /// When, in ns.
    pub time_ns: u64,
    /// The entity, as an index into [`Statemap::entities`].
    pub entity: usize,
    /// What happened.
    pub event: String,
    /// What it happened to.
    pub target: Option<String>,
}

/// Reads statemap data. What is read is all in memory then; the data itself is not.
///
/// The records may stand anywhere, not only one a line; each may have 8 MiB. What the reference renderer refuses or
/// drops (an unknown state, times that don't advance within an entity, a time that is no string,
/// a truncated end) is an error here.
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
    let Some(position) = records.begin()? else {
        return Err(nothing(records.here()));
    };
    let metadata = parse(records.record()?, position)?;
    let mut reader = Reader::new(metadata).map_err(|problem| position.error(problem))?;
    while let Some(position) = records.begin()? {
        if let Some((datum, length)) = plain::datum(records.ahead()) {
            if reader.has_state(datum.state) {
                reader.change(datum).map_err(|problem| position.error(problem))?;
                records.take(length);
                continue;
            }
        }
        let object = parse(records.record()?, position)?;
        reader.record(object).map_err(|problem| position.error(problem))?;
    }
    let end = records.here();
    reader.finish().map_err(|problem| end.error(problem))
}

pub(super) fn nothing(position: Position) -> ReadError {
    position.error(
        "there is nothing; the metadata comes first: an object with `start`, `title` and `states`",
    )
}

/// The record at `position`, whatever it is.
pub(super) fn parse(text: &str, position: Position) -> Result<Object, ReadError> {
    serde_json::from_str(text).map_err(|error| syntax_error(position, text.as_bytes(), &error))
}
