//! Finds where a task was spawned, in what is kept.

use crate::recorder::kept::Kept;
use crate::recorder::record::reader::{Entry, Notes};
use crate::recorder::record::{LocationId, Record};
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::segment::{Segment, StreamId};
use crate::util::sync::lock;

impl Kept {
    /// Returns where `task` was spawned, as far as that is known. There may be a million records to go through.
    pub(crate) fn origin(&self, task: u64) -> Option<LocationId> {
        let evicted = || lock(&self.memory).live_tasks.task(task)?.location;
        // It may be evicted meanwhile.
        evicted().or_else(|| self.recorded_origin(task)).or_else(evicted)
    }

    /// Returns where its record says that `task` was spawned. Searches from the youngest on: what is handed over meanwhile
    /// is found there.
    fn recorded_origin(&self, task: u64) -> Option<LocationId> {
        let buffers = self.buffers();
        let in_buffer = |buffer: &Buffer| {
            buffer.read(|stream, _, chunk| Spawn::find(stream, chunk.items(), task)).flatten()
        };
        let in_buffers = buffers.iter().find_map(|buffer| in_buffer(buffer));
        if let Some(Spawn { location: location @ Some(_), .. }) = in_buffers {
            return location;
        }
        buffers.iter().for_each(|buffer| buffer.seal(&self.store));
        let mut segments = Vec::new();
        lock(&self.store).segments(&mut segments);
        crate::util::sort::by_key(&mut segments, began);
        let in_segment = |segment: &Segment| Spawn::find(segment.stream, segment.records(), task);
        let spawn = in_buffers.or_else(|| segments.iter().rev().find_map(in_segment))?;
        spawn.location.or_else(|| {
            let mut of_stream = segments.iter().rev().filter(|other| other.stream == spawn.stream);
            let before = of_stream.find(|other| began(other) < spawn.from)?;
            let mut notes = Notes::default();
            before.records().iter().for_each(|record| _ = notes.read(*record));
            notes.location()
        })
    }
}

fn began(segment: &Segment) -> u64 {
    segment.records().first().map_or(0, |record| record.ticks)
}

/// The spawn of a task, as a record has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spawn {
    /// The stream it is in, and when the records begin in which it was found.
    stream: StreamId,
    from: u64,
    /// `None` if there is none, or it is noted at the end of what was written before these records.
    location: Option<LocationId>,
}

impl Spawn {
    /// Finds the spawn of `task`, or where it was first seen, in records of one stream.
    fn find(stream: StreamId, records: &[Record], task: u64) -> Option<Self> {
        let mut notes = Notes::default();
        let spawned_at = |record: &Record| match notes.read(*record)? {
            Entry::Spawn { task: of, location } | Entry::LateOrigin { task: of, location } => {
                (of == task).then_some(location)
            }
            _ => None,
        };
        let location = records.iter().find_map(spawned_at)?;
        Some(Self { stream, from: records[0].ticks, location })
    }
}
