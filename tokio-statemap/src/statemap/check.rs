//! Checks statemap data strictly: as the reference renderer takes it, and more.
//!
//! What the renderer merely survives, or draws otherwise than it was meant, is refused here.

#[cfg(test)]
mod hidden;
mod native;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;

use serde_json::Value;

use super::format::{Metadata, TagDefinition};
use super::read::field::{Object, shorten};
use super::read::plain::{self, Plain};
use super::read::records::{Position, RecordStream};
use super::read::{ReadError, Reader, Statemap, nothing, parse};
use native::NativeRules;

/// Reads statemap data and checks it strictly.
///
/// Besides what [`read`](super::read::read()) refuses, there must be a definition for each tag that
/// is used, and no record may be later than the last. Data that this crate wrote (it says that it
/// is of `Task`s or `Worker`s, and has their states) must also be as this crate writes it: see
/// [`check_ours`].
///
/// # Errors
///
/// If `r` fails, or for the first rule that is broken: with its line and byte, what is there and
/// what would be right.
///
/// # Examples
///
/// ```
/// use tokio_statemap::statemap::check::check;
///
/// let data = br#"{"start":[0,0],"title":"cpus","states":{"idle":{"value":0},"busy":{"value":1}}}
/// {"time":"0","entity":"cpu-0","state":0}
/// {"time":"70","entity":"cpu-0","state":1,"tag":"7"}
/// "#;
/// let error = check(&data[..]).unwrap_err();
/// assert!(error.to_string().starts_with("line 3, byte 120: tag `7` of state 1 has no definition"));
/// ```
pub fn check(r: impl io::Read) -> Result<Statemap, ReadError> {
    run(r, |metadata| metadata.native().is_some())
}

/// The same for data that is known to be this crate's.
///
/// Each record then is a line of its own without white space, keys that are not of the format don't
/// stand in it, and none stands there twice. The metadata names the host or not, and the states with
/// their colours; the entities are named as this crate names them. A tag is the spawn location of a
/// task: it is defined once, before it is used, and is the same in all live states; its definition has
/// the parts of that location as `file` and `location`, or neither. Where it is known where a task waits, that
/// state's tag has it behind the location, and its definition `wait` and `waitsAt`. The definitions that say what the run
/// was, if there are any, tell of all data, so that its timeline can be made again. A life is in order.
/// The last record is later than all others and repeats its entity's state: it marks the end.
///
/// # Errors
///
/// As with [`check`].
pub fn check_ours(r: impl io::Read) -> Result<Statemap, ReadError> {
    run(r, |_| true)
}

fn run(r: impl io::Read, is_ours: impl FnOnce(&Metadata) -> bool) -> Result<Statemap, ReadError> {
    let mut records = RecordStream::new(r);
    let Some(position) = records.begin()? else {
        return Err(nothing(records.here()));
    };
    let text = records.record()?;
    let object = parse(text, position)?;
    let is_compact = is_compact(text, &object);
    let values = native::values(&object);
    let mut reader = Reader::new(object).map_err(|problem| position.error(problem))?;
    let metadata = &reader.statemap.metadata;
    let mut native = None;
    if is_ours(metadata) {
        let rules = NativeRules::new(metadata).and_then(|native| {
            values?;
            native::compact(is_compact && position.byte == 0)?;
            Ok(native)
        });
        native = Some(rules.map_err(|problem| position.error(problem))?);
        reader.is_strict = true;
    }
    Checker { reader, native, undefined: BTreeMap::new(), last: None, latest_ns: None }.run(records)
}

/// Whether there is no white space in a record, and no key twice. Any order of the keys has the
/// same length.
fn is_compact(text: &str, object: &Object) -> bool {
    Value::Object(object.clone()).to_string().len() == text.len()
}

struct Checker {
    reader: Reader,
    /// The rules of our own data, if it is.
    native: Option<NativeRules>,
    /// The tags that were used before they had a definition, and where they were used first.
    undefined: BTreeMap<usize, Position>,
    /// When and where the last datum is.
    last: Option<(u64, Position)>,
    /// The latest time of all data before.
    latest_ns: Option<u64>,
}

impl Checker {
    fn run(mut self, mut records: RecordStream<impl io::Read>) -> Result<Statemap, ReadError> {
        loop {
            let line = match self.native {
                Some(_) => Some(native::end_of_line(&mut records)?),
                None => None,
            };
            let begin = records.begin()?;
            let here = begin.unwrap_or_else(|| records.here());
            if let Some(line) = line.filter(|line| line.byte != here.byte) {
                return Err(line.error("there is white space; each line is a record"));
            }
            let Some(position) = begin else { break };
            self.record(records.record()?, position)?;
        }
        self.finish(records.here())
    }

    fn record(&mut self, text: &str, position: Position) -> Result<(), ReadError> {
        let is_right = |datum: Plain<'_>| {
            self.reader.has_state(datum.state) && (datum.is_compact || self.native.is_none())
        };
        match plain::datum(text.as_bytes()).filter(|(datum, _)| is_right(*datum)) {
            Some((datum, _)) => {
                self.datum(datum, position).map_err(|problem| position.error(problem))
            }
            None => {
                let object = parse(text, position)?;
                self.object(text, object, position).map_err(|problem| position.error(problem))
            }
        }
    }

    fn datum(&mut self, datum: Plain<'_>, position: Position) -> Result<(), String> {
        if let Some(native) = &mut self.native {
            native.datum(&self.reader, datum)?;
        }
        self.reader.change(datum)?;
        self.latest_ns = self.latest_ns.max(self.last.map(|(time_ns, _)| time_ns));
        self.last = Some((datum.time_ns, position));
        if let Some(tag) = datum.tag {
            let tag = self.reader.find_tag(datum.state, tag);
            if let Some(tag) = tag.filter(|&tag| !self.reader.statemap.tags[tag].is_defined) {
                self.undefined.entry(tag).or_insert(position);
            }
        }
        Ok(())
    }

    fn object(&mut self, text: &str, object: Object, position: Position) -> Result<(), String> {
        if self.native.is_some() {
            native::compact(is_compact(text, &object))?;
            native::values(&object)?;
        }
        let has = |key| object.contains_key(key);
        let is_other = has("event") || has("description");
        if (has("time") || has("entity")) && (self.native.is_some() || !is_other) {
            let datum = self.reader.datum(object)?;
            return self.datum(datum.plain(), position);
        }
        if let Some(native) = &mut self.native {
            native.definition(&self.reader, &object)?;
        }
        self.reader.record(object)
    }

    fn finish(self, end: Position) -> Result<Statemap, ReadError> {
        let tags = &self.reader.statemap.tags;
        let undefined = self.undefined.iter().filter(|&(&tag, _)| !tags[tag].is_defined);
        if let Some((&tag, position)) = undefined.min_by_key(|(_, position)| position.byte) {
            let TagDefinition { state, tag, .. } = &tags[tag];
            let tag = shorten(tag);
            return Err(position.error(format!(
                "tag `{tag}` of state {state} has no definition; one with `state`, `tag` and what \
                 it means must stand somewhere"
            )));
        }
        if let (Some((last_ns, position)), Some(latest_ns)) = (self.last, self.latest_ns) {
            if last_ns < latest_ns {
                return Err(position.error(format!(
                    "the last change of state is at {last_ns}, but one before at {latest_ns}; the \
                     last must be the latest"
                )));
            }
        }
        if let Some(native) = &self.native {
            native.finish(&self.reader, self.last, self.latest_ns, end)?;
        }
        let statemap = self.reader.finish().map_err(|problem| end.error(problem))?;
        if statemap.run.is_some() {
            statemap.timeline().map_err(|problem| end.error(problem))?;
        }
        Ok(statemap)
    }
}
