//! Finds where a task was spawned, in what is kept.

use crate::recorder::kept::Kept;
use crate::recorder::locks::lock;
use crate::recorder::record::reader::{Entry, Notes};
use crate::recorder::record::{LocationId, Record};
use crate::recorder::store::segment::{Segment, StreamId};

impl Kept {
    /// Returns where `task` was spawned, as far as that is known. There may be a million records to search.
    pub(crate) fn origin(&self, task: u64) -> Option<LocationId> {
        let evicted = || lock(&self.memory).live_tasks.task(task)?.location;
        // The spawn may be evicted meanwhile.
        evicted().or_else(|| self.recorded_origin(task)).or_else(evicted)
    }

    /// Returns where a record says that `task` was spawned. Searches from the youngest records on, so that a chunk that
    /// is handed over meanwhile is found in the store.
    fn recorded_origin(&self, task: u64) -> Option<LocationId> {
        let buffers = self.buffers.all();
        let mut found = None;
        for buffer in &buffers {
            let in_buffer =
                buffer.read(|stream, _, chunk| Spawn::find(stream, chunk.items(), task)).flatten();
            if in_buffer.is_some() {
                found = in_buffer;
                break;
            }
        }
        if let Some(Spawn { location: location @ Some(_), .. }) = found {
            return location;
        }
        for buffer in &buffers {
            buffer.seal(&self.store);
        }
        let mut segments = Vec::new();
        lock(&self.store).segments(&mut segments);
        crate::util::sort::by_key(&mut segments, Segment::begins);
        for segment in segments.iter().rev() {
            if found.is_some() {
                break;
            }
            found = Spawn::find(segment.stream, segment.records(), task);
        }
        let spawn = found?;
        if spawn.location.is_some() {
            return spawn.location;
        }
        let is_before =
            |other: &&Segment| other.stream == spawn.stream && other.begins() < spawn.from;
        let before = segments.iter().rfind(is_before)?;
        let mut notes = Notes::default();
        for record in before.records() {
            notes.read(*record);
        }
        notes.location()
    }
}

/// The spawn of a task, as a record has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spawn {
    /// The stream that it is in, and the time at which the records begin in which it was found.
    stream: StreamId,
    from: u64,
    /// `None` if there is none, or if it is noted at the end of the records before these.
    location: Option<LocationId>,
}

impl Spawn {
    /// Finds the spawn of `task`, or the record of its origin, in records of one stream.
    fn find(stream: StreamId, records: &[Record], task: u64) -> Option<Self> {
        let mut notes = Notes::default();
        for record in records {
            match notes.read(*record) {
                Some(
                    Entry::Spawn { task: of, location } | Entry::LateOrigin { task: of, location },
                ) if of == task => return Some(Self { stream, from: records[0].ticks, location }),
                _ => {}
            }
        }
        None
    }
}
