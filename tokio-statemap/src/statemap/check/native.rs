//! The rules of the data that this crate writes.

use std::io;

use serde_json::Value;

use crate::statemap::format::{Datum, Metadata, Native};
use crate::statemap::read::field::{Object, shorten, string};
use crate::statemap::read::plain::Plain;
use crate::statemap::read::records::{Position, RecordStream};
use crate::statemap::read::run::is_of_run;
use crate::statemap::read::{ReadError, Reader};
use crate::trace::state::{TaskState, WorkerState};
use crate::trace::timeline::WaitId;

const SPAWNED: u32 = TaskState::Spawned as u32;
const COMPLETED: u32 = TaskState::Completed as u32;

/// What is to be known of the records before to judge the next one.
pub(super) struct NativeRules {
    is_tasks: bool,
    /// Which of the defined tags were used.
    used: Vec<bool>,
    /// How long the spawn location is that each of them begins with.
    locations: Vec<usize>,
    /// The entity of the last record, if that is a datum.
    last: Option<usize>,
}

/// Whether a record is written the one way that we do.
pub(super) fn compact(is_compact: bool) -> Result<(), String> {
    match is_compact {
        true => Ok(()),
        false => Err("there is white space in this record, a key twice, or a number written \
                      otherwise than it must be; a record is compact"
            .to_owned()),
    }
}

/// Checks the values that the reader takes in more than one way.
pub(super) fn values(object: &Object) -> Result<(), String> {
    if let Some((key, _)) = object.iter().find(|(_, value)| value.is_null()) {
        return Err(format!("`{}` is null; what isn't known is left out", shorten(key)));
    }
    match object.get("time").and_then(Value::as_str) {
        Some(time) if time.starts_with(['0', '+']) && time != "0" => {
            Err(format!("`time` is {}; it must have no more than its digits", shorten(time)))
        }
        _ => Ok(()),
    }
}

/// Takes the end of a line, behind a record.
pub(super) fn end_of_line(
    records: &mut RecordStream<impl io::Read>,
) -> Result<Position, ReadError> {
    let next = records.peek()?;
    let here = records.here();
    match next {
        Some(b'\n') => {
            records.take(1);
            Ok(records.here())
        }
        Some(_) => Err(here.error("there is more on this line; each record is a line of its own")),
        None => Err(here.error("the data is truncated: the last line has no newline")),
    }
}

impl NativeRules {
    pub(super) fn new(metadata: &Metadata) -> Result<Self, String> {
        if metadata.start[1] >= 1_000_000_000 {
            return Err("`start` has more than a second of nanoseconds; it must be [seconds, \
                        nanoseconds]"
                .to_owned());
        }
        let colours: Vec<&str> = match metadata.entity_kind.as_deref() {
            Some("Task") => TaskState::ALL.iter().map(|state| state.colour()).collect(),
            Some("Worker") => WorkerState::ALL.iter().map(|state| state.colour()).collect(),
            kind => {
                let kind = shorten(kind.unwrap_or("missing"));
                return Err(format!("`entityKind` is {kind}; it must be `Task` or `Worker`"));
            }
        };
        let entities = metadata.native();
        let states = metadata.states.iter().zip(colours);
        let wrong = states.into_iter().find(|(state, ours)| state.colour.as_deref() != Some(*ours));
        match (entities, wrong) {
            (None, _) => Err("the states aren't those of this crate's data".to_owned()),
            (_, Some((state, ours))) => Err(format!(
                "the colour of `{}` is {}; it must be {ours}",
                state.name,
                shorten(state.colour.as_deref().unwrap_or("missing")),
            )),
            (Some(entities), None) => Ok(Self {
                is_tasks: matches!(entities, Native::Tasks { .. }),
                used: Vec::new(),
                locations: Vec::new(),
                last: None,
            }),
        }
    }

    /// Checks a datum that the reader hasn't seen yet.
    pub(super) fn datum(&mut self, reader: &Reader, datum: Plain<'_>) -> Result<(), String> {
        let Plain { time_ns, entity, state, tag, .. } = datum;
        self.name(entity)?;
        let tag = match tag {
            None => None,
            Some(tag) => Some(self.tag(reader, state, tag)?),
        };
        let entities = &reader.statemap.entities;
        let index = reader.find_entity(entity);
        let row = index.map_or(&[][..], |index| &entities[index].data[..]);
        self.last = Some(index.unwrap_or(entities.len()));
        // A time that isn't greater is told by the reader.
        let previous = row.last().filter(|last| last.time_ns < time_ns);
        match previous {
            Some(last) if self.is_tasks => self.life(reader, row, *last, state, tag),
            _ => Ok(()),
        }
    }

    /// The index of a tag that a datum may have.
    fn tag(&mut self, reader: &Reader, state: u32, tag: &str) -> Result<usize, String> {
        let index = reader.find_tag(state, tag);
        let Some(index) = index.filter(|&index| reader.statemap.tags[index].is_defined) else {
            return Err(format!(
                "tag `{}` of state {state} isn't defined before it is used; it must be",
                shorten(tag)
            ));
        };
        if !self.is_tasks || state == COMPLETED {
            return Err("only the live states of tasks bear a tag".to_owned());
        }
        self.used.resize(reader.statemap.tags.len(), false);
        self.used[index] = true;
        Ok(index)
    }

    /// Whether an entity is named as ours are: perhaps `<runtime>/`, then what it is.
    fn name(&self, entity: &str) -> Result<(), String> {
        let name = entity.rsplit('/').next().unwrap_or_default();
        let number = |prefix| {
            let digits: Option<&str> = name.strip_prefix(prefix);
            digits.is_some_and(|d| {
                let is_plain = d == "0" || !d.starts_with('0');
                is_plain && d.bytes().all(|b| b.is_ascii_digit()) && d.parse::<u64>().is_ok()
            })
        };
        let (is_right, right) = match self.is_tasks {
            true => (name == "main" || number("main-") || number("task-"), "`main` or `task-7`"),
            false => (number("worker-"), "`worker-0`"),
        };
        match is_right {
            true => Ok(()),
            false => Err(format!(
                "`{}` isn't how an entity is named; it must be say {right}",
                shorten(entity)
            )),
        }
    }

    /// Checks a record that is no datum: only definitions may be.
    pub(super) fn definition(&mut self, reader: &Reader, object: &Object) -> Result<(), String> {
        self.last = None;
        if !object.contains_key("state") || !object.contains_key("tag") {
            // The reader knows what it is.
            return Ok(());
        }
        if object["tag"].as_str().is_some_and(is_of_run) {
            // As it knows what these say.
            return Ok(());
        }
        let known = ["state", "tag", "file", "location", "wait", "waitsAt"];
        if let Some(key) = object.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(format!(
                "`{}` doesn't belong there: a definition has `state`, `tag`, `file`, `location`, and of a \
                 place of waiting `wait` and `waitsAt`",
                shorten(key)
            ));
        }
        let mut object = object.clone();
        let (state, tag) = (reader.state(&mut object)?, string(&mut object, "tag")?);
        let whole = tag.clone();
        let tag = match object.remove("wait") {
            Some(wait) => self.waits(state, &tag, &wait, &mut object)?,
            None => tag,
        };
        self.locations.push(tag.len());
        // Earlier versions wrote neither.
        if !object.is_empty() {
            let (file, place) = (string(&mut object, "file")?, string(&mut object, "location")?);
            if !is_place(&place) || tag.strip_suffix(&place) != Some(&format!("{file}:")) {
                return Err(format!(
                    "`file` is {} and `location` is {}; they must say what the tag says, {}: its \
                     file, and its `line:column`",
                    shorten(&file),
                    shorten(&place),
                    shorten(&tag)
                ));
            }
        }
        let index = reader.find_tag(state, &whole);
        match index.filter(|&index| reader.statemap.tags[index].is_defined) {
            Some(_) => Err(format!("tag `{}` of state {state} is defined twice", shorten(&whole))),
            None => Ok(()),
        }
    }

    /// Checks the definition of where tasks wait. Returns what the tag says before it: the spawn location.
    fn waits(
        &self,
        state: u32,
        tag: &str,
        wait: &Value,
        object: &mut Object,
    ) -> Result<String, String> {
        string(object, "waitsAt")?;
        if !self.is_tasks || state != TaskState::Waiting as u32 {
            return Err("`wait` is of another state than `waiting`".to_owned());
        }
        let is_number = wait.as_u64().and_then(|n| u16::try_from(n).ok()).and_then(WaitId::new);
        let Some(number) = is_number else {
            return Err("`wait` is no number of a place of waiting".to_owned());
        };
        match before_wait(tag, number, object) {
            Some(before) => Ok(before.to_owned()),
            None => Err(format!("tag `{}` doesn't say that it is of the `wait`", shorten(tag))),
        }
    }

    /// Checks the next change in the life of a task.
    fn life(
        &self,
        reader: &Reader,
        row: &[Datum],
        last: Datum,
        state: u32,
        tag: Option<usize>,
    ) -> Result<(), String> {
        if state == SPAWNED && last.state != SPAWNED {
            return Err("this task is spawned again; it can be but once".to_owned());
        }
        if last.state == COMPLETED && state != COMPLETED {
            return Err("this task lives on after it completed".to_owned());
        }
        let first = row.iter().find(|datum| datum.state != COMPLETED);
        // One location has a tag of each state, and of each place of waiting.
        let location = |tag: Option<usize>| {
            let length = *self.locations.get(tag?)?;
            reader.statemap.tags[tag?].tag.get(..length).filter(|location| !location.is_empty())
        };
        if state != COMPLETED && first.is_some_and(|first| location(first.tag) != location(tag)) {
            return Err("its tag isn't that of the states before; it must be".to_owned());
        }
        Ok(())
    }

    pub(super) fn finish(
        &self,
        reader: &Reader,
        last: Option<(u64, Position)>,
        latest_ns: Option<u64>,
        end: Position,
    ) -> Result<(), ReadError> {
        let statemap = &reader.statemap;
        let is_used = |tag: usize| self.used.get(tag).is_some_and(|&is_used| is_used);
        if let Some(tag) = (0..statemap.tags.len()).find(|&tag| !is_used(tag)) {
            let tag = &statemap.tags[tag];
            return Err(end.error(format!(
                "the definition of tag `{}` of state {} isn't used",
                shorten(&tag.tag),
                tag.state
            )));
        }
        if statemap.entities.is_empty() {
            return Ok(());
        }
        let (Some(entity), Some((last_ns, position))) = (self.last, last) else {
            return Err(end.error("the last record is no datum; it must mark the end"));
        };
        // What begins at the time of the last record isn't seen.
        if Some(last_ns) <= latest_ns {
            return Err(position.error("the last record isn't the latest; it must be"));
        }
        match &statemap.entities[entity].data[..] {
            [.., a, b] if (a.state, a.tag) == (b.state, b.tag) => Ok(()),
            _ => Err(position.error(
                "the last record doesn't repeat a state; it must, to mark the end of the data",
            )),
        }
    }
}

/// Whether this is `line:column`.
fn is_place(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.split_once(':').is_some_and(|(line, column)| is_number(line) && is_number(column))
}

/// What a tag says before where the task waits, if it says that. A source file may have any name, so that only its
/// own definition tells where the location ends.
fn before_wait<'a>(tag: &'a str, wait: WaitId, object: &Object) -> Option<&'a str> {
    let member = |key| object.get(key).and_then(Value::as_str);
    let of_wait = format!("waits ({}): ", wait.number());
    let (before, rest) = match (member("file"), member("location")) {
        (Some(file), Some(place)) => {
            let (before, rest) = tag.split_at_checked(file.len() + 1 + place.len())?;
            (before, rest.strip_prefix(' ')?)
        }
        _ => ("", tag),
    };
    rest.starts_with(&of_wait).then_some(before)
}
