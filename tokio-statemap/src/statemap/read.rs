//! Reads statemap data, ours or anyone's.

mod field;
mod metadata;
mod record;

use std::fmt;
use std::io;

use serde_json::Value;

use crate::statemap::format::{Datum, Metadata, TagDefinition};
use record::Reader;

/// Statemap data that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statemap {
    /// Where it is from, and its states.
    pub metadata: Metadata,
    /// The entities, in the order in which they were first named.
    pub entities: Vec<Entity>,
    /// The tags, in the order in which they were first named.
    pub tags: Vec<TagDefinition>,
    /// The events, as they came.
    pub events: Vec<EntityEvent>,
    /// The latest time of a datum, in ns: what lasts, lasts until here. 0 without any.
    pub end_ns: u64,
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

/// Statemap data can't be read, or breaks a rule of its format.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadError {
    /// The line, from 1.
    pub line: u64,
    /// The offset in bytes from the start of the data, from 0.
    pub byte: u64,
    /// What is wrong there, and what would be right.
    pub problem: String,
    source: Option<io::Error>,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, byte {}: {}", self.line, self.byte, self.problem)
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

/// Reads statemap data: all of it, into memory.
///
/// The records may stand anywhere, not only one a line. What the reference renderer refuses or
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
pub fn read(mut r: impl io::Read) -> Result<Statemap, ReadError> {
    let mut bytes = Vec::new();
    if let Err(error) = r.read_to_end(&mut bytes) {
        return Err(ReadError {
            problem: format!("reading failed: {error}"),
            source: Some(error),
            ..error_at(&bytes, bytes.len(), String::new())
        });
    }
    read_bytes(&bytes)
}

fn read_bytes(bytes: &[u8]) -> Result<Statemap, ReadError> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    let mut reader: Option<Reader> = None;
    loop {
        let start = skip_space(bytes, values.byte_offset());
        let result = match values.next() {
            None => break,
            Some(Ok(value)) => match &mut reader {
                None => Reader::new(value).map(|new| reader = Some(new)),
                Some(reader) => reader.record(value),
            },
            Some(Err(error)) => return Err(syntax_error(bytes, start, &error)),
        };
        result.map_err(|problem| error_at(bytes, start, problem))?;
    }
    let Some(reader) = reader else {
        let problem = "there is nothing; the metadata comes first: an object with `start`, `title` and `states`";
        return Err(error_at(bytes, bytes.len(), problem.to_owned()));
    };
    Ok(reader.statemap)
}

fn skip_space(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|b| b.is_ascii_whitespace()).count()
}

fn error_at(bytes: &[u8], byte: usize, problem: String) -> ReadError {
    let newlines = bytes[..byte].iter().filter(|&&b| b == b'\n').count();
    ReadError { line: newlines as u64 + 1, byte: byte as u64, problem, source: None }
}

/// An error of the JSON itself, in the record that begins at `start`.
fn syntax_error(bytes: &[u8], start: usize, error: &serde_json::Error) -> ReadError {
    if error.is_eof() {
        let problem = "the data is truncated: this record has no end; \
                       a record is a whole JSON object";
        return error_at(bytes, start, problem.to_owned());
    }
    // serde_json counts lines and columns from the start of the data, columns in bytes from 1.
    let line_start = match error.line() {
        0 | 1 => 0,
        line => {
            let mut newlines = bytes.iter().enumerate().filter(|&(_, &b)| b == b'\n');
            newlines.nth(line - 2).map_or(0, |(at, _)| at + 1)
        }
    };
    let byte = (line_start + error.column().saturating_sub(1)).clamp(start, bytes.len());
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    error_at(bytes, byte, format!("this is no JSON: {message}"))
}
