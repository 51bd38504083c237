//! A timeline's tasks or workers as statemap data.

mod header;
mod long_polls;
mod profile;
#[cfg(has_requests)]
mod requests;
mod run;
mod spaced;
mod stream;
mod summary;
mod waits;

use std::io;

use crate::statemap::Labels;
use crate::statemap::format::Metadata;
use crate::trace::event::SpawnLocation;
use crate::trace::state::{TaskState, WorkerState};
use crate::trace::timeline::{Poll, Timeline, WaitId};
use crate::util::json;
use crate::util::map::Map;
use crate::util::parallel::MANY_EVENTS;

use header::header;
use run::Parts;
pub(super) use spaced::Spaced;
use stream::Text;
pub(super) use waits::WaitTags;

/// Writes the tasks of `timeline` as statemap data, through a buffer. A second thread formats a large timeline while
/// this one writes.
///
/// Times count from the timeline's left edge. If two changes of a task have the same time, the later one is written 1
/// ns later, because the renderer drops a second change at the same time. Live states have the spawn location as their
/// tag, and the definitions of tags have its parts as `file` and as `location` (`line:column`). If it is known where a
/// task waits, the state has a tag of its own, which also names the line.
///
/// Facts that aren't in rows (the worker of a poll, the cause of a long one, gaps, losses) are in definitions
/// of separate tags, `tokio-statemap` …, which renderers ignore. This crate reads the timeline from them
/// again.
///
/// # Errors
///
/// If `w` fails.
///
/// # Examples
///
/// ```
/// use tokio_statemap::Timeline;
/// use tokio_statemap::statemap::{Labels, write_tasks};
///
/// fn print(timeline: &Timeline) -> std::io::Result<()> {
///     let labels = Labels { title: "http".to_owned(), host: None };
///     write_tasks(timeline, &labels, std::io::stdout().lock())
/// }
/// ```
pub fn write_tasks(timeline: &Timeline, labels: &Labels, mut w: impl io::Write) -> io::Result<()> {
    write(timeline, &mut w, &|text| tasks(timeline, labels, text))
}

fn tasks(timeline: &Timeline, labels: &Labels, text: &mut Text<'_>) -> io::Result<()> {
    text.write(Metadata::of_tasks(timeline, labels).to_line().as_bytes())?;
    let state = TaskState::Completed.value();
    header(timeline, labels, state, text)?;
    let mut rows = RowWriter::new(timeline, state, text);
    rows.parts.lists(timeline, true, rows.text)?;
    let mut tags: Map<(Option<SpawnLocation>, Option<WaitId>), usize> = Map::default();
    let mut wait_tags = WaitTags::new(&timeline.places.waits);
    for task in timeline.tasks.one_by_one() {
        let location = task.location;
        let mut tag_of = |rows: &mut RowWriter<'_, '_>, wait: Option<WaitId>| {
            (location.is_some() || wait.is_some()).then(|| {
                *tags.get_or_insert_with((location, wait), || {
                    rows.tag(location, wait.map(|wait| wait_tags.get(wait)))
                })
            })
        };
        let tag = tag_of(&mut rows, None);
        rows.begin_row(&timeline.task_name(task.key))?;
        rows.parts.parent(task.parent);
        let mut polls = task.polls.iter();
        let mut wait = task.carried_wait.and_then(|carried| carried.wait);
        for (time_ns, state) in timeline.transitions(&task) {
            let tag = match state {
                TaskState::Completed => None,
                TaskState::Waiting if wait.is_some() => tag_of(&mut rows, wait),
                _ => tag,
            };
            rows.datum(time_ns, state.value(), tag)?;
            if state == TaskState::Running {
                let poll = polls.next();
                wait = poll.and_then(Poll::wait);
                rows.poll(poll)?;
            }
        }
    }
    rows.finish()
}

/// Writes the workers of `timeline` as statemap data, through a buffer.
///
/// Times and threads are as in [`write_tasks`]. Threads of the blocking pool are not included.
///
/// # Errors
///
/// If `w` fails.
pub fn write_workers(
    timeline: &Timeline,
    labels: &Labels,
    mut w: impl io::Write,
) -> io::Result<()> {
    write(timeline, &mut w, &|text| workers(timeline, labels, text))
}

fn workers(timeline: &Timeline, labels: &Labels, text: &mut Text<'_>) -> io::Result<()> {
    text.write(Metadata::of_workers(timeline, labels).to_line().as_bytes())?;
    let state = WorkerState::Stopped.value();
    header(timeline, labels, state, text)?;
    let mut rows = RowWriter::new(timeline, state, text);
    rows.parts.lists(timeline, false, rows.text)?;
    for worker in &timeline.workers {
        rows.begin_row(&timeline.worker_name(worker.index))?;
        for &(time_ns, state) in &worker.transitions {
            rows.datum(time_ns, state.value(), None)?;
        }
    }
    rows.finish()
}

/// Returns the records of the tasks or of the workers of `timeline` that belong to no row, without the names
/// of tasks. They complete rows that are stored in another form.
#[cfg(feature = "html")]
pub(crate) fn without_rows(
    timeline: &Timeline,
    labels: &Labels,
    is_tasks: bool,
) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream::write(&mut bytes, false, &|text| {
        let (metadata, state) = match is_tasks {
            true => (Metadata::of_tasks(timeline, labels), TaskState::Completed.value()),
            false => (Metadata::of_workers(timeline, labels), WorkerState::Stopped.value()),
        };
        text.write(metadata.to_line().as_bytes())?;
        header(timeline, labels, state, text)?;
        let mut parts = Parts::new(state);
        parts.are_names_elsewhere = true;
        parts.lists(timeline, is_tasks, text)?;
        parts.write(text)
    })?;
    Ok(bytes)
}

fn write(
    timeline: &Timeline,
    w: &mut dyn io::Write,
    make: &(dyn Fn(&mut Text<'_>) -> io::Result<()> + Sync),
) -> io::Result<()> {
    stream::write(w, timeline.events >= MANY_EVENTS, make)
}

/// The most states, as each takes one bit.
const STATES: usize = 16;
const _: () = assert!(TaskState::ALL.len() <= STATES && WorkerState::ALL.len() <= STATES);

/// Writes the data of one entity after the other.
struct RowWriter<'a, 'b> {
    text: &'a mut Text<'b>,
    /// The records between the rows.
    parts: Parts,
    begin_ns: u64,
    end_ns: u64,
    /// The entity that is being written, as the middle of its data.
    entity: Vec<u8>,
    /// The end of the last datum in each state, from its time on, kept for reuse. There are few different ones, but may
    /// be millions of data.
    ends: [Option<End>; STATES],
    digits: itoa::Buffer,
    /// The times of this entity's data, and the state of the last one.
    times: Spaced,
    last: Option<u8>,
    /// The latest of all times written.
    latest_ns: u64,
    tags: Vec<Tag>,
    /// The end of the last datum of the first entity: one more such datum marks the end of the data.
    first: Option<End>,
}

/// The serialised end of a datum, from its time on.
struct End {
    tag: Option<usize>,
    text: Vec<u8>,
}

struct Tag {
    json: String,
    /// The other members of its definitions, and their end.
    members: String,
    /// The states for which it is defined, as bits.
    defined: u16,
}

/// Returns the tag for a spawn location and a place of waiting, and the members of its definition.
pub(super) fn tag_of(
    location: Option<SpawnLocation>,
    wait: Option<&(String, String)>,
) -> (String, String) {
    let (mut text, mut members) = (String::new(), String::new());
    if let Some(location @ SpawnLocation { file, line, column }) = location {
        text = location.to_string();
        let file = json::string(file);
        members = format!(",\"file\":{file},\"location\":\"{line}:{column}\"");
    }
    if let Some((end, of_wait)) = wait {
        if !text.is_empty() {
            text.push(' ');
        }
        text += end;
        members += of_wait;
    }
    (text, members)
}

impl<'a, 'b> RowWriter<'a, 'b> {
    fn new(timeline: &Timeline, state: u8, text: &'a mut Text<'b>) -> Self {
        Self {
            text,
            parts: Parts::new(state),
            begin_ns: timeline.begin_ns,
            end_ns: timeline.end_ns,
            entity: Vec::new(),
            ends: [const { None }; STATES],
            digits: itoa::Buffer::new(),
            times: Spaced::default(),
            last: None,
            latest_ns: 0,
            tags: Vec::new(),
            first: None,
        }
    }

    /// Adds a tag that isn't defined for any state yet. `wait` is the end of the tag for a place of waiting, and the
    /// members of its definition.
    fn tag(&mut self, location: Option<SpawnLocation>, wait: Option<&(String, String)>) -> usize {
        let (text, mut members) = tag_of(location, wait);
        members += "}\n";
        self.tags.push(Tag { json: json::string(&text), members, defined: 0 });
        self.tags.len() - 1
    }

    fn begin_row(&mut self, entity: &str) -> io::Result<()> {
        self.end_row();
        self.parts.write_if_full(self.text)?;
        self.ends = [const { None }; STATES];
        self.entity.clear();
        self.entity.extend_from_slice(b"\",\"entity\":");
        self.entity.extend_from_slice(json::string(entity).as_bytes());
        self.entity.extend_from_slice(b",\"state\":");
        Ok(())
    }

    fn end_row(&mut self) {
        self.times = Spaced::default();
        let Some(state) = self.last.take() else { return };
        if self.first.is_none() {
            self.first = self.ends[usize::from(state)].take();
        }
    }

    fn datum(&mut self, time_ns: u64, state: u8, tag: Option<usize>) -> io::Result<()> {
        let real_ns = time_ns.saturating_sub(self.begin_ns);
        let (time_ns, apart_ns) = self.times.next(real_ns);
        self.parts.datum(apart_ns);
        self.latest_ns = self.latest_ns.max(time_ns);
        self.last = Some(state);
        let known = &mut self.ends[usize::from(state)];
        let end = match known {
            Some(end) if end.tag == tag => end,
            _ => {
                if let Some(tag) = tag {
                    self.tags[tag].define(state, self.text)?;
                }
                known.insert(End::new(&self.entity, state, tag, &self.tags))
            }
        };
        end.write(self.digits.format(time_ns), self.text)
    }

    /// Records that the datum was the start of this poll.
    fn poll(&mut self, poll: Option<&Poll>) -> io::Result<()> {
        match poll {
            Some(poll) => self.parts.poll(poll),
            None => self.parts.poll(&Poll::open(0, u32::MAX, None)),
        }
        self.parts.write_if_full(self.text)
    }

    /// Writes the end of the data. The renderer ends all states at the time of the last record, and ignores what begins
    /// then or later.
    fn finish(mut self) -> io::Result<()> {
        self.end_row();
        self.parts.write(self.text)?;
        if let Some(end) = &self.first {
            let length_ns = self.end_ns.saturating_sub(self.begin_ns);
            let time_ns = length_ns.max(self.latest_ns.saturating_add(1));
            end.write(self.digits.format(time_ns), self.text)?;
        }
        Ok(())
    }
}

impl Tag {
    /// Writes the definition of the pair of `state` and this tag before its first use.
    fn define(&mut self, state: u8, text: &mut Text<'_>) -> io::Result<()> {
        let bit = 1 << state;
        if self.defined & bit != 0 {
            return Ok(());
        }
        self.defined |= bit;
        let definition = format!("{{\"state\":{state},\"tag\":{}{}", self.json, self.members);
        text.write(definition.as_bytes())
    }
}

impl End {
    fn new(entity: &[u8], state: u8, tag: Option<usize>, tags: &[Tag]) -> Self {
        let mut text = entity.to_vec();
        text.extend_from_slice(itoa::Buffer::new().format(state).as_bytes());
        if let Some(tag) = tag {
            text.extend_from_slice(b",\"tag\":");
            text.extend_from_slice(tags[tag].json.as_bytes());
        }
        text.extend_from_slice(b"}\n");
        Self { tag, text }
    }

    /// Writes the datum at `time`.
    fn write(&self, time: &str, text: &mut Text<'_>) -> io::Result<()> {
        text.write(b"{\"time\":\"")?;
        text.write(time.as_bytes())?;
        text.write(&self.text)
    }
}
