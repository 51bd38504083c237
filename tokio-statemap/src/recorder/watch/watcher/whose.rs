//! Whose poll it is: where its task was spawned, and which worker polls it.

use std::panic::Location;

use crate::recorder::Recorder;
use crate::recorder::id_map::IdMap;
use crate::recorder::live_tasks::LocationId;
use crate::recorder::record::{Kind, ROOT, Record, unpack_spawn};
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::segment::{Segment, StreamId};
use crate::util::sync::lock;

/// Of how many tasks it is kept where they were spawned.
const MAX_KNOWN: usize = 1024;

/// What was found of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whose {
    pub(super) location: Option<&'static Location<'static>>,
    pub(super) worker: Option<u32>,
}

/// Finds whose the polls of one recorder are.
///
/// Where a task was spawned is in a record, of which there may be a million: they are gone through once
/// a task.
#[derive(Debug, Default)]
pub(super) struct Finder {
    known: IdMap<Option<&'static Location<'static>>>,
}

impl Finder {
    /// Looks for the origin of `task` and for the worker that the thread of `stream` is.
    pub(super) fn find(&mut self, recorder: &Recorder, stream: StreamId, task: u64) -> Whose {
        Whose { location: self.location(recorder, task), worker: worker(recorder, stream) }
    }

    fn location(&mut self, recorder: &Recorder, task: u64) -> Option<&'static Location<'static>> {
        if !recorder.config.include_spawn_location {
            return None;
        }
        if task & ROOT != 0 {
            let number = u32::try_from(task & !ROOT).ok();
            return number.and_then(|number| recorder.roots.location(number));
        }
        if let Some(&known) = self.known.get(&task) {
            return known;
        }
        let found = spawned_at(recorder, task)
            .and_then(|id| recorder.locations.to_vec().get(id as usize).copied());
        if self.known.len() == MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert(task, found);
        found
    }
}

/// The worker that the thread of `stream` is.
fn worker(recorder: &Recorder, stream: StreamId) -> Option<u32> {
    let buffers = lock(&recorder.buffers).clone();
    let of_stream = |buffer: &&_| Buffer::read(buffer, |of, _, _| of) == Some(stream);
    buffers.into_iter().find(of_stream)?.watched.worker()
}

/// Where `task` was spawned, as far as that is kept: what is evicted is kept with the live tasks.
fn spawned_at(recorder: &Recorder, task: u64) -> Option<LocationId> {
    let evicted = || lock(&recorder.live_tasks).task(task)?.location;
    // It may be evicted meanwhile.
    evicted().or_else(|| recorded(recorder, task)).or_else(evicted)
}

/// The same as its record says. From the youngest on: what is handed over meanwhile is found there.
fn recorded(recorder: &Recorder, task: u64) -> Option<LocationId> {
    let buffers = lock(&recorder.buffers).clone();
    let in_buffer = |buffer: &Buffer| {
        buffer.read(|stream, _, chunk| Spawn::find(stream, chunk.items(), task)).flatten()
    };
    let in_buffers = buffers.iter().find_map(|buffer| in_buffer(buffer));
    if let Some(Spawn { location: location @ Some(_), .. }) = in_buffers {
        return location;
    }
    buffers.iter().for_each(|buffer| buffer.seal(&recorder.store));
    let mut segments = Vec::new();
    lock(&recorder.store).segments(&mut segments);
    segments.sort_unstable_by_key(began);
    let in_segment = |segment: &Segment| Spawn::find(segment.stream, segment.records(), task);
    let spawn = in_buffers.or_else(|| segments.iter().rev().find_map(in_segment))?;
    spawn.location.or_else(|| {
        let mut of_stream = segments.iter().rev().filter(|other| other.stream == spawn.stream);
        noted_last(of_stream.find(|other| began(other) < spawn.from)?.records())
    })
}

fn began(segment: &Segment) -> u64 {
    segment.records().first().map_or(0, |record| record.ticks)
}

/// The location in a note after which these records end, before the record of the spawn. Other notes may
/// come between the two.
fn noted_last(records: &[Record]) -> Option<LocationId> {
    let is_either =
        |record: &&Record| matches!(record.kind(), Kind::Location | Kind::Spawn | Kind::LateOrigin);
    let last = records.iter().rev().find(is_either)?;
    let is_noted = last.kind() == Kind::Location;
    is_noted.then(|| LocationId::try_from(last.payload()).ok()).flatten()
}

/// The record of a spawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spawn {
    /// Whose it is, and when the records begin in which it was found.
    stream: StreamId,
    from: u64,
    /// `None` if there is none, or it is noted at the end of what was written before these records.
    location: Option<LocationId>,
}

impl Spawn {
    /// The spawn of `task` in records of one stream.
    fn find(stream: StreamId, records: &[Record], task: u64) -> Option<Self> {
        let is_it = |record: &Record| match record.kind() {
            Kind::Spawn | Kind::LateOrigin => record.payload() == task,
            Kind::SpawnAt => unpack_spawn(record.packed_payload()).0 == task,
            _ => false,
        };
        let at = records.iter().position(is_it)?;
        let location = match records[at].kind() {
            Kind::SpawnAt => Some(unpack_spawn(records[at].packed_payload()).1),
            _ => noted_last(&records[..at]),
        };
        Some(Self { stream, from: records[0].ticks, location })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CollectorConfig;

    const UNKNOWN: Whose = Whose { location: None, worker: None };

    #[test]
    fn what_is_only_in_the_store_is_found_too() {
        let config = CollectorConfig { buffer_capacity: 64, ..CollectorConfig::default() };
        let recorder = Recorder::new(config);
        recorder.start();
        let here = Location::caller();
        recorder.task_spawned(7, Some(here));
        for id in 100..400 {
            recorder.task_spawned(id, None);
        }
        recorder.task_spawned(9, Some(here));
        let known = Whose { location: Some(here), ..UNKNOWN };
        let mut finder = Finder::default();
        let all: Vec<_> = [7, 9, 100, 5].map(|task| finder.find(&recorder, 0, task)).into();
        assert_eq!(all, [known, known, UNKNOWN, UNKNOWN]);
    }

    #[test]
    fn a_task_is_looked_for_once() {
        let recorder = Recorder::new(CollectorConfig::default());
        recorder.start();
        let mut finder = Finder::default();
        let here = Location::caller();
        for task in 0..3 * MAX_KNOWN as u64 {
            recorder.task_spawned(task, Some(here));
            assert_eq!(finder.find(&recorder, 0, task).location, Some(here), "{task}");
        }
        assert_eq!(finder.known.len(), MAX_KNOWN);
        let last = 3 * MAX_KNOWN as u64 - 1;
        finder.known.insert(last, None);
        assert_eq!(finder.find(&recorder, 0, last), UNKNOWN);
    }

    #[test]
    fn the_last_worker_counts() {
        let recorder = Recorder::new(CollectorConfig::default());
        recorder.start();
        let thread = recorder.new_thread_recorder();
        let stream = thread.buffer.read(|stream, _, _| stream).expect("it has a thread");
        let worker = || Finder::default().find(&recorder, stream, 7).worker;
        assert_eq!(worker(), None);
        for index in [0, 5] {
            thread.buffer.watched.set_worker(Some(index));
            assert_eq!(worker(), Some(index));
        }
        recorder.retire(thread);
        assert_eq!(worker(), None);
    }
}
