//! Reads the data that `origin` writes.

use std::collections::HashMap;

use super::columns::{Bytes, Exceptions, Row};
use super::parts::{Meta, SectionMeta};
use crate::render::html::chunk::{FIRST_ROW, NOT_SHOWN};
use crate::render::html::origin::{OTHER, TASKS, WORKERS};
use crate::statemap::read::Statemap;
use crate::statemap::{Change, Rows, TagDefinition, TaskRow, Waker};
use crate::trace::state::TaskState;
use crate::trace::timeline::{TaskKey, WaitId};
use crate::trace::woken_by::WokenBy;

/// A file of data that is given its rows.
pub(super) struct File {
    /// The section of the page with its rows.
    pub(super) section: Option<usize>,
    from_ns: u64,
    part: Option<Option<u64>>,
    rows: Rows,
    /// The content of its element.
    bytes: Vec<u8>,
    times: Exceptions,
    transitions: u64,
    kind: Kind,
}

enum Kind {
    Tasks(Box<Tasks>),
    Workers,
    Other(Other),
}

/// The state of reading tasks, see `origin::tasks`.
struct Tasks {
    of_location: Exceptions,
    of_parent: Exceptions,
    of_wait: Exceptions,
    of_worker: Exceptions,
    of_thread: Exceptions,
    of_cut: Exceptions,
    of_waker: Exceptions,
    location: u64,
    waits: u64,
    polls: u64,
    worker: u64,
    threads: HashMap<u64, u32>,
    /// The keys of tasks, by the places of their rows.
    keys: Vec<TaskKey>,
    /// The places of the rows that spawned them.
    parents: Vec<Option<u64>>,
    changes: Vec<Change>,
}

struct Other {
    /// The places of rows that were read.
    places: Vec<usize>,
    undefined: Vec<u64>,
    are_events_in_records: bool,
}

impl File {
    /// Reads the head of a file, which has no rows yet.
    pub(super) fn parse(
        bytes: Vec<u8>,
        meta: &Meta,
        rows_of: impl Fn(usize) -> u64,
    ) -> Result<Self, String> {
        let mut rest = Bytes::new(&bytes);
        let kind = rest.varint()?;
        let section: usize = rest.number()?;
        let section = section.checked_sub(1);
        if section.is_some_and(|section| section >= meta.sections.len()) {
            return Err("its rows aren't there".to_owned());
        }
        let from_ns = rest.varint()?;
        let part = match rest.varint()? {
            0 => None,
            _ => Some(rest.varint()?.checked_sub(1)),
        };
        let records = rest.varint()?;
        let records = rest.take(records)?;
        let mut rows = Rows::from_records(records).map_err(|error| error.problem)?;
        let next = |rest: &mut Bytes<'_>, numbers| Exceptions::parse(&bytes, rest, numbers);
        let (times, kind) = match kind {
            TASKS => {
                for _ in 0..rest.varint()? {
                    let file = rest.text()?;
                    rows.location(file, rest.number()?, rest.number()?)?;
                }
                let (of_location, of_parent) = (next(&mut rest, 1)?, next(&mut rest, 2)?);
                let times = next(&mut rest, 2)?;
                let tasks = Tasks {
                    of_location,
                    of_parent,
                    of_wait: next(&mut rest, 1)?,
                    of_worker: next(&mut rest, 1)?,
                    of_thread: next(&mut rest, 1)?,
                    of_cut: next(&mut rest, 1)?,
                    of_waker: next(&mut rest, 1)?,
                    location: 0,
                    waits: 0,
                    polls: 0,
                    worker: 0,
                    threads: HashMap::new(),
                    keys: Vec::new(),
                    parents: Vec::new(),
                    changes: Vec::new(),
                };
                (times, Kind::Tasks(Box::new(tasks)))
            }
            WORKERS => (next(&mut rest, 2)?, Kind::Workers),
            OTHER => {
                let mut places = Vec::new();
                for _ in 0..section.map_or(0, rows_of) {
                    places.push(rest.number()?);
                }
                let mut undefined = Vec::new();
                for _ in 0..rest.varint()? {
                    undefined.push(rest.varint()?);
                }
                let are_events_in_records = rest.varint()? != 0;
                let other = Other { places, undefined, are_events_in_records };
                (next(&mut rest, 2)?, Kind::Other(other))
            }
            _ => return Err("this is of an unknown kind".to_owned()),
        };
        if !rest.is_empty() {
            return Err("this is too long".to_owned());
        }
        Ok(Self { section, from_ns, part, rows, bytes, times, transitions: 0, kind })
    }

    /// Adds the next row.
    pub(super) fn row(
        &mut self,
        mut row: Row,
        unit_ns: u64,
        meta: &SectionMeta,
    ) -> Result<(), String> {
        let states = self.rows.states();
        // Beyond the end of what is known, the picture has a state of its own.
        row.transitions.retain(|transition| (transition.state as usize) < states);
        let mut times = Vec::with_capacity(row.transitions.len());
        for transition in &row.transitions {
            let drawn_ns = transition.time.checked_mul(unit_ns).ok_or("a time is too late")?;
            let file_ns = drawn_ns.saturating_sub(self.from_ns);
            times.push(self.times.time(&self.bytes, self.transitions, file_ns)?);
            self.transitions += 1;
        }
        match &mut self.kind {
            Kind::Tasks(tasks) => tasks.row(&row, &times, meta, &self.bytes, &mut self.rows),
            Kind::Workers | Kind::Other(_) => {
                let tag = |tag: Option<u64>| tag.map(|tag| tag as usize);
                if row
                    .transitions
                    .iter()
                    .any(|t| t.tag.is_some_and(|t| t >= meta.tags.len() as u64))
                {
                    return Err("a tag isn't there".to_owned());
                }
                let changes = row.transitions.iter().zip(times);
                let changes = changes.map(|(drawn, ns)| (ns, drawn.state, tag(drawn.tag)));
                self.rows.row(&row.name, row.description.as_deref(), changes);
                Ok(())
            }
        }
    }

    /// Returns the data, once all rows were added.
    pub(super) fn finish(self, meta: &Meta) -> Result<Statemap, String> {
        let section = self.section.map(|section| &meta.sections[section]);
        let mut rows = self.rows;
        match self.kind {
            Kind::Tasks(tasks) => {
                rows.wakers(&tasks.keys)?;
                for (task, parent) in tasks.parents.iter().enumerate() {
                    let Some(place) = *parent else { continue };
                    let key = usize::try_from(place).ok().and_then(|place| tasks.keys.get(place));
                    rows.parent(task, *key.ok_or("a row's parent isn't there")?);
                }
                rows.run(self.part)
            }
            Kind::Workers => rows.run(self.part),
            Kind::Other(other) => {
                let tags = section.map_or(&[][..], |section| &section.tags);
                let tags = (0..).zip(tags).map(|(index, of)| TagDefinition {
                    state: of.state,
                    tag: of.tag.clone(),
                    fields: of.fields.clone(),
                    is_defined: !other.undefined.contains(&index),
                });
                let events = section.filter(|_| !other.are_events_in_records);
                let events = events.map_or(&[][..], |section| &section.events);
                let events = events.iter().map(|(row, time_ns, event, target)| {
                    let time_ns = time_ns.saturating_sub(self.from_ns);
                    (time_ns, *row as usize, event.clone(), target.clone())
                });
                rows.other(&other.places, tags.collect(), events, self.part.is_some())
            }
        }
    }
}

/// Returns who woke the task of a poll: as in the column, unless there is an exception.
fn woken_by(exception: Option<[u64; 1]>, waker: u64) -> Result<Option<Waker>, String> {
    Ok(match (exception, waker) {
        (Some([packed]), 0 | NOT_SHOWN) => WokenBy::unpack(packed).map(Waker::Known),
        (Some(_), _) => return Err("it is told twice who woke a task".to_owned()),
        (None, 0) => None,
        (None, 1) => Some(Waker::Known(WokenBy::Runtime)),
        (None, 2) => Some(Waker::Known(WokenBy::BlockingTask)),
        (None, 3) => Some(Waker::Known(WokenBy::Thread)),
        (None, NOT_SHOWN) => return Err("it isn't told who woke a task".to_owned()),
        (None, place) if place >> 63 == 0 => Some(Waker::Place(place - FIRST_ROW)),
        (None, _) => return Err("a waker isn't there".to_owned()),
    })
}

impl Tasks {
    fn row(
        &mut self,
        row: &Row,
        times: &[u64],
        meta: &SectionMeta,
        bytes: &[u8],
        rows: &mut Rows,
    ) -> Result<(), String> {
        let nth = self.keys.len() as u64;
        if let Some([location]) = self.of_location.take(bytes, nth)? {
            self.location = location;
        }
        let parent = match self.of_parent.take(bytes, nth)? {
            Some([0, root]) => {
                Some(TaskKey::Root(root.try_into().map_err(|_| "a row's parent isn't there")?))
            }
            Some([_, id]) => Some(TaskKey::Spawned(id)),
            None => None,
        };
        self.changes.clear();
        for (drawn, &time_ns) in row.transitions.iter().zip(times) {
            let mut change =
                Change { time_ns, state: drawn.state, wait: None, poll: None, woken_by: None };
            if drawn.state == u32::from(TaskState::Running.value()) {
                let exception = self.of_waker.take(bytes, self.polls)?;
                change.woken_by = woken_by(exception, drawn.waker)?;
                change.poll = Some(self.poll(drawn.worker, meta, bytes)?);
            } else if drawn.state == u32::from(TaskState::Waiting.value()) {
                change.wait = self.wait(drawn.tag, meta, bytes)?;
            }
            self.changes.push(change);
        }
        let location = self.location.checked_sub(1).map(u32::try_from).transpose();
        let location = location.map_err(|_| "a spawn location isn't there")?;
        let of_task = TaskRow { name: &row.name, parent, location };
        self.keys.push(rows.task(of_task, &self.changes)?);
        self.parents.push(row.parent);
        Ok(())
    }

    fn wait(
        &mut self,
        tag: Option<u64>,
        meta: &SectionMeta,
        bytes: &[u8],
    ) -> Result<Option<WaitId>, String> {
        let no_wait = || "a wait isn't there".to_owned();
        let wait = |number: u64| u16::try_from(number).ok().and_then(WaitId::new);
        let exception = self.of_wait.take(bytes, self.waits)?;
        self.waits += 1;
        match (exception, tag) {
            (Some([0]), _) | (None, None) => Ok(None),
            (Some([number]), _) => Ok(Some(wait(number).ok_or_else(no_wait)?)),
            // The last tag is that of tasks that nothing will wake.
            (None, Some(tag)) if tag + 1 == meta.tags.len() as u64 => Ok(Some(WaitId::NOTHING)),
            (None, Some(tag)) => Ok(Some(wait(tag + 1).ok_or_else(no_wait)?)),
        }
    }

    /// Returns a poll's thread and worker, and the sides on which it is cut.
    fn poll(
        &mut self,
        worker: Option<u16>,
        meta: &SectionMeta,
        bytes: &[u8],
    ) -> Result<(u32, Option<u16>, u8), String> {
        if meta.has_workers {
            self.worker = worker.map_or(0, |worker| u64::from(worker) + 1);
        }
        if let Some([worker]) = self.of_worker.take(bytes, self.polls)? {
            self.worker = worker;
        }
        let worker = self.worker.checked_sub(1).map(u16::try_from).transpose();
        let worker = worker.map_err(|_| "a worker's number is too large")?;
        let thread = match self.of_thread.take(bytes, self.polls)? {
            Some([thread]) => {
                let thread = thread.try_into().map_err(|_| "a thread's number is too large")?;
                self.threads.insert(self.worker, thread);
                thread
            }
            None => *self.threads.get(&self.worker).ok_or("a poll's thread isn't there")?,
        };
        let cuts = match self.of_cut.take(bytes, self.polls)? {
            Some([cuts @ 0..=3]) => cuts as u8,
            Some(_) => return Err("a poll is cut nowhere".to_owned()),
            None => 0,
        };
        self.polls += 1;
        Ok((thread, worker, cuts))
    }
}
