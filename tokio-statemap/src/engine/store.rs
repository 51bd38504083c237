//! Where rings are emptied into: bounded blocks of records, in memory that is used again.
//!
//! A block is never written to once it is here, so that a snapshot shares it rather than copies it.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::engine::record::{Kind, Record, events_in};

/// The number of a stream: the records of one thread, in their order.
pub(crate) type StreamId = u32;

/// The place of a run of records among those of its stream that begin at the same time. It wraps
/// around.
pub(crate) type Sequence = u32;

/// Records in memory that can be shared, and used again once nobody shares it.
pub(crate) type Buffer = Arc<Vec<Record>>;

/// At most how many blocks are allocated ahead (16 MB of address space; pages that nothing is
/// written to take no memory).
const BLOCKS_AHEAD: usize = 256;

#[derive(Debug)]
pub(crate) struct Store {
    block_records: usize,
    /// By rising time of the last record.
    blocks: VecDeque<Block>,
    /// Runs that are too short for a block of their own, each led by a `Stream` note: ten thousand
    /// short-lived threads share a few blocks.
    tails: Buffer,
    free: Vec<Buffer>,
    events: u64,
    /// From how many events on it is worth a look again whether any are too many.
    search_at: u64,
}

/// Records that were moved out of the rings.
#[derive(Debug)]
struct Block {
    content: Content,
    events: u64,
    first_ticks: u64,
    last_ticks: u64,
}

#[derive(Debug)]
enum Content {
    /// Of one stream.
    Single(Segment),
    /// Of several streams, each run led by a `Stream` note.
    Shared(Buffer),
}

/// A run of records of one stream.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) stream: StreamId,
    pub(crate) sequence: Sequence,
    buffer: Buffer,
    range: Range<usize>,
}

impl Segment {
    pub(crate) fn new(stream: StreamId, sequence: Sequence, buffer: Buffer) -> Self {
        let range = 0..buffer.len();
        Self { stream, sequence, buffer, range }
    }

    /// What to sort by, so that those of one stream are in their order.
    pub(crate) fn order(&self) -> (StreamId, u64, Sequence) {
        (self.stream, self.records().first().map_or(0, |record| record.ticks), self.sequence)
    }

    pub(crate) fn records(&self) -> &[Record] {
        &self.buffer[self.range.clone()]
    }

    /// Takes the first `n` records off, as a segment of their own.
    pub(crate) fn split_front(&mut self, n: usize) -> Self {
        let middle = self.range.start + n;
        let front = Self {
            stream: self.stream,
            sequence: self.sequence,
            buffer: Arc::clone(&self.buffer),
            range: self.range.start..middle,
        };
        self.range.start = middle;
        front
    }

    /// Takes the records up to `until_ticks` off.
    fn split_until(&mut self, until_ticks: u64) -> Self {
        let records = self.records();
        self.split_front(records.partition_point(|record| record.ticks <= until_ticks))
    }

    /// Drops all but the first `n` records.
    pub(crate) fn truncate(&mut self, n: usize) {
        self.range.end = self.range.start + n;
    }
}

impl Store {
    /// A store whose blocks hold `block_records`, with memory ahead for `max_events`.
    pub(crate) fn new(block_records: usize, max_events: usize) -> Self {
        let blocks = (max_events / block_records).saturating_add(8).min(BLOCKS_AHEAD);
        let mut store = Self {
            block_records,
            blocks: VecDeque::with_capacity(blocks),
            tails: Buffer::default(),
            free: Vec::with_capacity(blocks),
            events: 0,
            search_at: 0,
        };
        store.free.extend((0..blocks).map(|_| new_buffer(block_records)));
        store.tails = store.take_buffer();
        store
    }

    /// An empty buffer of a block's size, used again if there is one.
    pub(crate) fn take_buffer(&mut self) -> Buffer {
        self.free.pop().unwrap_or_else(|| new_buffer(self.block_records))
    }

    /// Keeps `buffer`, and puts an empty one in its place.
    pub(crate) fn seal(
        &mut self,
        stream: StreamId,
        sequence: Sequence,
        buffer: &mut Buffer,
        events: u64,
    ) {
        if buffer.is_empty() {
            return;
        }
        let empty = self.take_buffer();
        let records = std::mem::replace(buffer, empty);
        self.events += events;
        self.push(Content::Single(Segment::new(stream, sequence, records)), events);
    }

    /// Keeps a run that doesn't fill a block.
    pub(crate) fn keep_tail(&mut self, stream: StreamId, sequence: Sequence, records: &[Record]) {
        let Some(first) = records.first() else { return };
        // A run must not be parted from the note that leads it.
        if self.tails.len() + records.len() + 1 > self.block_records {
            let empty = self.take_buffer();
            let full = std::mem::replace(&mut self.tails, empty);
            let events = events_in(&full);
            self.push(Content::Shared(full), events);
        }
        self.events += events_in(records);
        let tails = Arc::make_mut(&mut self.tails);
        tails.push(stream_note(first.ticks, stream, sequence));
        tails.extend_from_slice(records);
    }

    fn push(&mut self, content: Content, events: u64) {
        let records = content.records();
        let mut ticks = records.iter().map(|record| record.ticks);
        let ends = match &content {
            // A thread's records are in order.
            Content::Single(_) => (ticks.clone().next(), ticks.next_back()),
            Content::Shared(_) => (ticks.clone().min(), ticks.max()),
        };
        let (Some(first_ticks), Some(last_ticks)) = ends else { return };
        let place = self.blocks.partition_point(|block| block.last_ticks <= last_ticks);
        let block = Block { events, content, first_ticks, last_ticks };
        self.blocks.insert(place, block);
    }

    /// How many events are kept here.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// Up to which time blocks can be dropped so that, of what is newer, the blocks alone still
    /// hold `max_events`. `None` if no block can be dropped.
    pub(crate) fn surplus(&mut self, max_events: u64) -> Option<u64> {
        let oldest = self.blocks.front()?;
        if self.events.saturating_sub(oldest.events) < max_events {
            return None;
        }
        if self.events < self.search_at {
            return None;
        }
        // All that can go goes at once: a ring may hold many blocks, and a snapshot keeps hooks
        // from dropping for a while.
        let newer = |block: &Block| -> u64 {
            let newer = self.blocks.iter().filter(|other| other.first_ticks > block.last_ticks);
            newer.map(|other| other.events).sum()
        };
        let mut rest = self.events;
        let may_go = self.blocks.iter().take_while(|block| {
            rest -= block.events;
            rest >= max_events
        });
        // No more than by their sum: seldom more than a few, so that the search is short.
        let mut n = may_go.count();
        while n > 0 && newer(&self.blocks[n - 1]) < max_events {
            n -= 1;
        }
        // Each event kept from now on adds at most one to what is newer.
        let missing = self.blocks.get(n).map_or(0, |next| max_events.saturating_sub(newer(next)));
        let last_ticks = n.checked_sub(1).map(|last| self.blocks[last].last_ticks);
        let dropped: u64 = self.blocks.iter().take(n).map(|block| block.events).sum();
        self.search_at = self.events - dropped + missing;
        last_ticks
    }

    /// Takes out what is no later than `until_ticks`, also of blocks that reach beyond. Returns how
    /// many events that were.
    ///
    /// All of it must go at once: the roster would take a task for living whose end it learns long
    /// before its spawn, and a stream's records must be taken in their order.
    pub(crate) fn take_until(&mut self, until_ticks: u64, into: &mut Vec<Segment>) -> u64 {
        let mut taken = 0;
        while self.blocks.front().is_some_and(|block| block.last_ticks <= until_ticks) {
            if let Some(block) = self.blocks.pop_front() {
                taken += block.events;
                block.content.segments(into);
            }
        }
        let parts_from = into.len();
        for i in (0..self.blocks.len()).rev() {
            if self.blocks[i].first_ticks > until_ticks {
                continue;
            }
            match self.blocks.remove(i).map(|block| block.content) {
                Some(Content::Single(mut segment)) => {
                    into.push(segment.split_until(until_ticks));
                    let events = events_in(segment.records());
                    self.push(Content::Single(segment), events);
                }
                Some(Content::Shared(records)) => {
                    let later = split_tails(&records, until_ticks, into);
                    let events = events_in(&later);
                    self.push(Content::Shared(Arc::new(later)), events);
                }
                None => {}
            }
        }
        if self.tails.first().is_some_and(|record| record.ticks <= until_ticks) {
            let later = split_tails(&self.tails, until_ticks, into);
            let tails = Arc::make_mut(&mut self.tails);
            tails.clear();
            tails.extend(later);
        }
        taken += events_of(&into[parts_from..]);
        self.events -= taken;
        taken
    }

    /// Uses the memory of `segments` again, as far as no snapshot shares it.
    pub(crate) fn recycle(&mut self, segments: &mut Vec<Segment>) {
        for segment in segments.drain(..) {
            let mut buffer = segment.buffer;
            if let Some(records) = Arc::get_mut(&mut buffer) {
                let fits = records.capacity() >= self.block_records;
                if fits && self.free.len() < self.free.capacity() {
                    records.clear();
                    self.free.push(buffer);
                }
            }
        }
    }

    /// All that is here, by stream, those of one stream in their order.
    pub(crate) fn segments(&self, into: &mut Vec<Segment>) {
        for block in &self.blocks {
            block.content.segments(into);
        }
        split_streams(&Arc::new(self.tails.to_vec()), into);
        into.sort_unstable_by_key(Segment::order);
    }
}

impl Content {
    fn records(&self) -> &[Record] {
        match self {
            Self::Single(segment) => segment.records(),
            Self::Shared(records) => records,
        }
    }

    fn segments(&self, into: &mut Vec<Segment>) {
        match self {
            Self::Single(segment) => into.push(segment.clone()),
            Self::Shared(records) => split_streams(records, into),
        }
    }
}

/// How many events `segments` hold.
pub(crate) fn events_of(segments: &[Segment]) -> u64 {
    segments.iter().map(|segment| events_in(segment.records())).sum()
}

/// The runs of a buffer in which each run is led by a `Stream` note.
fn split_streams(buffer: &Buffer, into: &mut Vec<Segment>) {
    let mut run: Option<Segment> = None;
    for (i, record) in buffer.iter().enumerate() {
        if record.kind() == Kind::Stream {
            into.extend(run.take());
            let (stream, sequence) = noted_stream(*record);
            run =
                Some(Segment { stream, sequence, buffer: Arc::clone(buffer), range: i + 1..i + 1 });
        } else if let Some(run) = &mut run {
            run.range.end = i + 1;
        }
    }
    into.extend(run);
}

/// The same, of what is no later than `until_ticks`; returns the rest.
fn split_tails(buffer: &Buffer, until_ticks: u64, into: &mut Vec<Segment>) -> Vec<Record> {
    let mut runs = Vec::new();
    split_streams(buffer, &mut runs);
    let mut rest = Vec::new();
    for mut run in runs {
        into.push(run.split_until(until_ticks));
        if let Some(first) = run.records().first() {
            rest.push(stream_note(first.ticks, run.stream, run.sequence));
            rest.extend_from_slice(run.records());
        }
    }
    rest
}

const SEQUENCE_BITS: u32 = 28;

fn stream_note(ticks: u64, stream: StreamId, sequence: Sequence) -> Record {
    let sequence = u64::from(sequence) & ((1 << SEQUENCE_BITS) - 1);
    let payload = u64::from(stream) << SEQUENCE_BITS | sequence;
    Record::new(ticks, Kind::Stream, payload)
}

fn noted_stream(record: Record) -> (StreamId, Sequence) {
    let payload = record.payload();
    let sequence = payload & ((1 << SEQUENCE_BITS) - 1);
    ((payload >> SEQUENCE_BITS) as StreamId, sequence as Sequence)
}

pub(crate) fn new_buffer(records: usize) -> Buffer {
    Arc::new(Vec::with_capacity(records))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(ticks: Range<u64>) -> Vec<Record> {
        ticks.map(|t| Record::new(t, Kind::Park, 0)).collect()
    }

    fn shape(store: &Store) -> Vec<(StreamId, Vec<u64>)> {
        let mut segments = Vec::new();
        store.segments(&mut segments);
        segments.iter().map(|s| (s.stream, s.records().iter().map(|r| r.ticks).collect())).collect()
    }

    #[test]
    fn tails_of_many_threads_share_blocks_and_come_back_apart() {
        let mut store = Store::new(8, 100);
        for stream in 0..10 {
            let from = u64::from(stream) * 10;
            store.keep_tail(stream, 0, &run(from..from + 3));
        }
        assert_eq!(store.events(), 30);
        assert_eq!(store.blocks.len(), 4);
        let expected: Vec<_> = (0..10_u32)
            .map(|s| (s, (u64::from(s) * 10..u64::from(s) * 10 + 3).collect()))
            .collect();
        assert_eq!(shape(&store), expected);
    }

    #[test]
    fn a_block_is_only_dropped_if_enough_newer_events_stay() {
        let mut store = Store::new(4, 8);
        // A slow thread's block reaches over all of the fast one's: it says nothing about what is
        // complete after the first fast block.
        store.seal(1, 0, &mut Arc::new(run(0..4)), 4);
        store.seal(2, 0, &mut Arc::new(vec![run(1..2)[0], run(90..91)[0]]), 2);
        store.seal(1, 1, &mut Arc::new(run(4..8)), 4);
        assert_eq!(store.surplus(4), Some(3));
        assert_eq!(store.surplus(5), None);
        let mut dropped = Vec::new();
        store.take_until(3, &mut dropped);
        assert_eq!(dropped.len(), 2, "of the slow one's what is as old");
        assert_eq!(store.events(), 5);
    }

    #[test]
    fn what_streams_share_is_dropped_by_time_not_by_block() {
        let mut store = Store::new(100, 8);
        store.keep_tail(1, 0, &run(1..5));
        store.keep_tail(2, 0, &run(3..20));
        let mut dropped = Vec::new();
        store.take_until(4, &mut dropped);
        assert_eq!(store.events(), 15);
        assert_eq!(shape(&store), [(2, (5..20).collect())]);
        let ticks = |s: &Segment| s.records().iter().map(|r| r.ticks).collect::<Vec<_>>();
        assert_eq!(dropped.iter().map(ticks).collect::<Vec<_>>(), [vec![1, 2, 3, 4], vec![3, 4]]);
    }

    #[test]
    fn memory_is_used_again_unless_a_snapshot_shares_it() {
        let mut store = Store::new(4, 8);
        let free = store.free.len();
        let mut buffer = store.take_buffer();
        Arc::get_mut(&mut buffer).unwrap().extend(run(0..4));
        store.seal(1, 0, &mut buffer, 4);
        assert_eq!(store.free.len(), free - 2);
        let mut snapshot = Vec::new();
        store.segments(&mut snapshot);
        let mut dropped = Vec::new();
        store.take_until(3, &mut dropped);
        store.recycle(&mut dropped);
        assert_eq!(store.free.len(), free - 2);
        assert_eq!(snapshot[0].records().len(), 4);
    }
}
