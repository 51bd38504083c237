//! The store: full chunks as blocks of records, bounded by `max_events`, in memory that is reused.
//!
//! Records in the store are immutable, so a capture shares them instead of copying.

mod blocks;
pub(crate) mod buffer;
pub(crate) mod buffers;
pub(crate) mod look;
pub(crate) mod oldest;
pub(crate) mod rings;
pub(crate) mod segment;
mod shared_chunk;
#[cfg(has_black_box)]
pub(crate) mod tap;
pub(crate) mod watched;

use crate::recorder::record::{Record, events_in};
use crate::recorder::store::blocks::{Block, BlockRecords, Blocks};
use crate::recorder::store::segment::{
    RecordWriter, Segment, Sequence, SharedChunk, StreamId, events_of, records_until,
};
use crate::recorder::store::shared_chunk::{split_streams, write_run};
use crate::sys::sync::Arc;

/// The most records that memory is preallocated for: 16 MB of address space. Pages that were never
/// written to take no physical memory.
const MAX_PREALLOCATED_RECORDS: usize = 1 << 20;

/// The number of records per allocation of chunks: 256 KB. Large, so that allocations are rare and
/// the allocator maps fresh memory; small, so that a single chunk that is still in use keeps little
/// memory alive.
const ALLOCATION_RECORDS: usize = 1 << 14;

/// The most chunks per allocation.
const MAX_ALLOCATION_CHUNKS: usize = 16;

/// The number of records per allocation when memory is preallocated: larger, as it happens before
/// the program starts, and its total is bounded.
const PREALLOCATION_RECORDS: usize = 1 << 16;

/// The most chunks that are preallocated: each has some bookkeeping.
const MAX_PREALLOCATED_CHUNKS: usize = 1024;

/// Chunks that stay idle for long hold at most this part of `max_events`. But this number of idle chunks is always
/// allowed.
const IDLE_PART: usize = 8;
const MIN_IDLE_CHUNKS: usize = 8;

/// Chunks that are idle for a short time may hold this many times as much. After a poll that went on for some time,
/// much is evicted at once, and threads soon fill it again: to give memory back and to get it anew takes longer than to
/// fill it, and interrupts all threads.
const SHORTLY_IDLE: usize = 4;

/// The most chunks whose memory is given back at once.
const GIVEN_BACK_AT_ONCE: usize = 32;

#[derive(Debug)]
pub(crate) struct Store {
    chunk_records: usize,
    blocks: Blocks,
    /// Runs that are too short for a block of their own, each after a `Stream` note. So ten thousand short-lived
    /// threads share a few blocks.
    partial: Option<RecordWriter>,
    /// Empty chunks whose memory was used before.
    free: Vec<RecordWriter>,
    /// The least number of `free` since memory was last [given back](Self::give_back_memory).
    least_free: usize,
    /// Empty chunks that have no memory yet, or none any more.
    untouched: Vec<RecordWriter>,
    /// The most chunks that are idle for long.
    max_idle: usize,
    /// Only used while blocks are split; kept for its memory, as hooks evict.
    begun: Vec<Block>,
    events: u64,
    /// The number of events from which on it is worth searching for blocks to evict.
    search_at: u64,
    /// The records that entered the store, if a black box takes them.
    #[cfg(has_black_box)]
    tapped: Option<Box<tap::Tapped>>,
}

impl Store {
    /// Returns a store with chunks of `chunk_records` records, and with memory preallocated for `max_events`.
    pub(crate) fn new(chunk_records: usize, max_events: usize) -> Self {
        let wanted = (max_events / chunk_records).saturating_add(8);
        let ahead =
            wanted.min(MAX_PREALLOCATED_RECORDS / chunk_records + 1).min(MAX_PREALLOCATED_CHUNKS);
        let mut untouched = Vec::with_capacity(ahead + MAX_ALLOCATION_CHUNKS);
        while untouched.len() < ahead {
            let chunks = (PREALLOCATION_RECORDS / chunk_records).clamp(1, ahead - untouched.len());
            untouched.extend(RecordWriter::allocate(chunks, chunk_records));
        }
        // One eviction frees this many, and threads fill them until the next.
        let max_idle = (max_events / IDLE_PART / chunk_records).max(MIN_IDLE_CHUNKS).min(ahead);
        Self {
            chunk_records,
            // A hook that evicts should not allocate for what slow threads leave.
            blocks: Blocks::with_capacity(ahead.max(256)),
            partial: None,
            free: Vec::with_capacity(SHORTLY_IDLE * max_idle),
            least_free: 0,
            untouched,
            max_idle,
            begun: Vec::new(),
            events: 0,
            search_at: 0,
            #[cfg(has_black_box)]
            tapped: None,
        }
    }

    /// Takes an empty chunk to write to, from reused memory if possible.
    pub(crate) fn take_writer(&mut self) -> RecordWriter {
        let Some(writer) = self.free.pop() else { return self.take_unused() };
        self.least_free = self.least_free.min(self.free.len());
        writer
    }

    /// Takes an empty chunk without memory behind it, for a thread that may never fill it.
    pub(crate) fn take_unused(&mut self) -> RecordWriter {
        loop {
            if let Some(writer) = self.untouched.pop() {
                return writer;
            }
            let chunks = (ALLOCATION_RECORDS / self.chunk_records).clamp(1, MAX_ALLOCATION_CHUNKS);
            self.untouched.extend(RecordWriter::allocate(chunks, self.chunk_records));
        }
    }

    /// Takes back a chunk that nothing was written to.
    pub(crate) fn give_back(&mut self, empty: RecordWriter) {
        self.add_free(empty);
    }

    /// Reuses the memory of a chunk, unless something else still refers to it.
    pub(crate) fn recycle(&mut self, chunk: SharedChunk) {
        if let Some(empty) = RecordWriter::reuse(chunk) {
            self.add_free(empty);
        }
    }

    /// Keeps a chunk for reuse, with its memory unless too many are idle.
    fn add_free(&mut self, empty: RecordWriter) {
        match self.free.len() < SHORTLY_IDLE * self.max_idle {
            true => self.free.push(empty),
            false => self.release(empty),
        }
    }

    /// Gives the memory of chunks back to the system that were idle since the last call, but for a few. Otherwise it
    /// would stay for ever, as the allocator may keep what is freed. Returns how many idle chunks are too many, if they
    /// stay idle.
    pub(crate) fn give_back_memory(&mut self) -> usize {
        // Few at a time, as threads may wait for the store.
        for _ in self.max_idle..self.least_free.min(self.max_idle + GIVEN_BACK_AT_ONCE) {
            let Some(idle) = self.free.pop() else { break };
            self.release(idle);
        }
        self.least_free = self.free.len();
        self.least_free.saturating_sub(self.max_idle)
    }

    fn release(&mut self, mut empty: RecordWriter) {
        empty.release();
        if self.untouched.len() < self.untouched.capacity() {
            self.untouched.push(empty);
        }
    }

    /// Adds the records of a thread's full chunk.
    pub(crate) fn keep(&mut self, segment: Segment, events: u64) {
        self.tap(segment.stream, segment.sequence, segment.records());
        self.events += events;
        self.blocks.add(BlockRecords::Single(segment), events);
    }

    /// Adds records of a partly filled chunk, as runs that are numbered from `sequence` on. Advances `sequence`.
    pub(crate) fn keep_tail(
        &mut self,
        stream: StreamId,
        sequence: &mut Sequence,
        records: &[Record],
    ) {
        // A run must stay with its note.
        for run in records.chunks(self.chunk_records - 1) {
            let partial = match self.partial.take() {
                Some(partial) if partial.has_room_for(1 + run.len()) => partial,
                full => {
                    if let Some(full) = full {
                        self.keep_shared(&full);
                    }
                    self.take_writer()
                }
            };
            self.events += events_in(run);
            self.tap(stream, *sequence, run);
            write_run(&partial, stream, *sequence, run);
            self.partial = Some(partial);
            *sequence = sequence.wrapping_add(1);
        }
    }

    /// Copies records for the black box, if there is one. Each record of a thread comes here once: as it enters the
    /// store, or as it is evicted without having been there.
    #[inline]
    pub(crate) fn tap(&mut self, stream: StreamId, sequence: Sequence, records: &[Record]) {
        #[cfg(has_black_box)]
        if let Some(tapped) = &mut self.tapped {
            tapped.add(stream, sequence, records);
        }
        #[cfg(not(has_black_box))]
        let _ = (stream, sequence, records);
    }

    /// Takes the copies so far. From now on records are copied to `next`, if that is given.
    #[cfg(has_black_box)]
    pub(crate) fn take_tapped(
        &mut self,
        next: Option<Box<tap::Tapped>>,
    ) -> Option<Box<tap::Tapped>> {
        std::mem::replace(&mut self.tapped, next)
    }

    /// Returns how many records were copied since copies were last taken.
    #[cfg(has_black_box)]
    pub(crate) fn tapped(&self) -> usize {
        self.tapped.as_ref().map_or(0, |tapped| tapped.records.len())
    }

    fn keep_shared(&mut self, full: &RecordWriter) {
        let chunk = Arc::clone(full.chunk());
        let events = events_in(chunk.items());
        self.blocks.add(BlockRecords::Shared(chunk), events);
    }

    /// Returns whether there are more than `margin` events beyond the number from which on some may be evictable.
    pub(crate) fn exceeds_by(&self, max_events: u64, margin: u64) -> bool {
        self.events > self.search_at.max(max_events).saturating_add(margin)
    }

    /// Returns the number of events in the store.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// Returns the time up to which blocks can be evicted, so that the blocks that are wholly newer still hold
    /// `max_events`. `None` if no block can be evicted.
    pub(crate) fn evictable_until(&mut self, max_events: u64) -> Option<u64> {
        let oldest = self.blocks.get(0)?;
        if self.events.saturating_sub(oldest.events) < max_events {
            return None;
        }
        if self.events < self.search_at {
            return None;
        }
        // Evicts as much as possible at once, as hooks can't evict while a snapshot is taken.
        let (mut n, mut rest) = (0, self.events);
        while let Some(block) = self.blocks.get(n) {
            if rest - block.events < max_events {
                break;
            }
            rest -= block.events;
            n += 1;
        }
        // This is an upper bound by the sum of events. It is rarely more than a few blocks too high, so the search is
        // short.
        let newer = |block: &Block| self.blocks.events_after(block.last_ticks);
        let mut last_ticks = None;
        while let Some(last) = n.checked_sub(1).and_then(|last| self.blocks.get(last)) {
            if newer(last) >= max_events {
                last_ticks = Some(last.last_ticks);
                break;
            }
            rest += last.events;
            n -= 1;
        }
        // Each further event adds at most one to what is newer.
        let next = self.blocks.get(n);
        let missing = next.map_or(0, |next| max_events.saturating_sub(newer(next)));
        self.search_at = rest + missing;
        last_ticks
    }

    /// Removes all records up to `until_ticks`, splitting blocks that reach beyond. Returns the
    /// number of events removed.
    ///
    /// All of them must be removed together. Otherwise `live_tasks` would take a task for alive if its termination is
    /// applied long before its spawn. The records of a stream must be removed in order.
    pub(crate) fn take_until(&mut self, until_ticks: u64, into: &mut Vec<Segment>) -> u64 {
        let mut taken = self.take_ended(until_ticks, into);
        let parts_from = into.len();
        self.split_begun(until_ticks, into);
        self.split_partial(until_ticks, into);
        taken += events_of(&into[parts_from..]);
        self.events -= taken;
        taken
    }

    // Each step has a frame of its own, as hooks evict.

    /// Takes the blocks that end no later than `until_ticks`. Returns the number of their events.
    #[inline(never)]
    fn take_ended(&mut self, until_ticks: u64, into: &mut Vec<Segment>) -> u64 {
        let mut taken = 0;
        while let Some(block) = self.blocks.take_ended(until_ticks) {
            taken += block.events;
            block.segments(into);
        }
        taken
    }

    /// Takes the front of the blocks that begin no later than `until_ticks`.
    fn split_begun(&mut self, until_ticks: u64, into: &mut Vec<Segment>) {
        // Each block is taken once, as the remainder of a block goes back.
        self.take_begun(until_ticks);
        let mut begun = std::mem::take(&mut self.begun);
        while let Some(block) = begun.pop() {
            match block.content {
                BlockRecords::Single(segment) => self.split_single(segment, until_ticks, into),
                BlockRecords::Shared(chunk) => {
                    let later = self.split_shared(&chunk, until_ticks, into);
                    self.keep_shared(&later);
                }
            }
        }
        self.begun = begun;
    }

    #[inline(never)]
    fn take_begun(&mut self, until_ticks: u64) {
        while let Some(block) = self.blocks.take_begun(until_ticks) {
            self.begun.push(block);
        }
    }

    /// Takes what is old from the runs that don't fill a chunk.
    fn split_partial(&mut self, until_ticks: u64, into: &mut Vec<Segment>) {
        let Some(partial) = &self.partial else { return };
        let partial = Arc::clone(partial.chunk());
        // Its runs are not sorted by time.
        if partial.items().iter().any(|record| record.ticks <= until_ticks) {
            self.partial = Some(self.split_shared(&partial, until_ticks, into));
        }
    }

    #[inline(never)]
    fn split_single(&mut self, mut segment: Segment, until_ticks: u64, into: &mut Vec<Segment>) {
        into.push(segment.split_until(until_ticks));
        let events = events_in(segment.records());
        self.blocks.add(BlockRecords::Single(segment), events);
    }

    /// Removes records as [`take_until`](Self::take_until) does. The next search for evictable ones begins anew.
    pub(crate) fn drain_until(&mut self, until_ticks: u64, into: &mut Vec<Segment>) -> u64 {
        let taken = self.take_until(until_ticks, into);
        self.search_at = 0;
        taken
    }

    /// Takes the records up to `until_ticks` out of a shared chunk. Returns a chunk with the rest.
    #[inline(never)]
    fn split_shared(
        &mut self,
        chunk: &SharedChunk,
        until_ticks: u64,
        into: &mut Vec<Segment>,
    ) -> RecordWriter {
        let rest = self.take_writer();
        let from = into.len();
        split_streams(chunk, into);
        for run in &mut into[from..] {
            let old = records_until(run.records(), until_ticks);
            write_run(&rest, run.stream, run.sequence, &run.records()[old..]);
            run.truncate(old);
        }
        rest
    }

    /// Appends all segments to `into`, and sorts it by stream, and within a stream in order.
    pub(crate) fn segments(&self, into: &mut Vec<Segment>) {
        for block in self.blocks.iter() {
            block.segments(into);
        }
        if let Some(partial) = &self.partial {
            split_streams(partial.chunk(), into);
        }
        Segment::sort_in_order(into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::record::Kind;
    use std::ops::Range;

    fn run(ticks: Range<u64>) -> Vec<Record> {
        ticks.map(|t| Record::new(t, Kind::Park, 0)).collect()
    }

    fn keep(store: &mut Store, stream: StreamId, sequence: Sequence, records: &[Record]) {
        let writer = store.take_writer();
        assert!(records.iter().all(|&record| writer.push(record)));
        let chunk = Arc::clone(writer.chunk());
        let events = events_in(records);
        store.keep(Segment::new(stream, sequence, chunk, 0..records.len()), events);
    }

    fn shape(store: &Store) -> Vec<(StreamId, Vec<u64>)> {
        let mut segments = Vec::new();
        store.segments(&mut segments);
        segments.iter().map(|s| (s.stream, s.records().iter().map(|r| r.ticks).collect())).collect()
    }

    #[test]
    fn short_runs_of_many_threads_share_blocks() {
        let mut store = Store::new(8, 100);
        for stream in 0..10 {
            let from = u64::from(stream) * 10;
            store.keep_tail(stream, &mut 0, &run(from..from + 3));
        }
        assert_eq!(store.events(), 30);
        assert_eq!(store.blocks.iter().count(), 4);
        let expected: Vec<_> = (0..10_u32)
            .map(|s| (s, (u64::from(s) * 10..u64::from(s) * 10 + 3).collect()))
            .collect();
        assert_eq!(shape(&store), expected);
    }

    #[test]
    fn a_block_is_evicted_only_if_enough_newer_events_stay() {
        let mut store = Store::new(4, 8);
        // A slow thread's block spans all blocks of the fast one: it doesn't count towards what is
        // newer than the first fast block.
        keep(&mut store, 1, 0, &run(0..4));
        keep(&mut store, 2, 0, &[run(1..2), run(90..91)].concat());
        keep(&mut store, 1, 1, &run(4..8));
        assert_eq!(store.evictable_until(4), Some(3));
        assert_eq!(store.evictable_until(5), None);
        let mut dropped = Vec::new();
        store.take_until(3, &mut dropped);
        assert_eq!(dropped.len(), 2, "of the slow one's what is as old");
        assert_eq!(store.events(), 5);
    }

    #[test]
    fn a_drain_delays_no_eviction() {
        let mut store = Store::new(4, 8);
        // No block is newer than the slow thread's.
        keep(&mut store, 1, 0, &[run(0..1), run(80..81)].concat());
        (0..20).for_each(|i| keep(&mut store, 2, i, &run(u64::from(i) * 4..u64::from(i) * 4 + 4)));
        assert_eq!(store.evictable_until(8), Some(71));
        store.drain_until(u64::MAX, &mut Vec::new());
        assert_eq!(store.events(), 0);
        (25..28).for_each(|i| keep(&mut store, 2, i, &run(u64::from(i) * 4..u64::from(i) * 4 + 4)));
        assert_eq!(store.evictable_until(8), Some(103));
    }

    #[test]
    fn the_limit_counts_only_evictable_events() {
        let run = |store: &mut Store, i: u64| keep(store, 1, i as Sequence, &run(i * 4..i * 4 + 4));
        let mut store = Store::new(4, 8);
        // The blocks all last until the same time: none is newer than another.
        for i in 0..10 {
            let ends = [Record::new(0, Kind::Park, 0), Record::new(100, Kind::Park, 0)];
            keep(&mut store, 2 + i, 0, &ends);
        }
        assert!(store.exceeds_by(8, 4), "nothing was evicted yet");
        assert_eq!(store.evictable_until(8), None);
        assert!(!store.exceeds_by(8, 4));
        (26..28).for_each(|i| run(&mut store, i));
        assert!(!store.exceeds_by(8, 4));
        (28..30).for_each(|i| run(&mut store, i));
        assert!(store.exceeds_by(8, 4));
        assert_eq!(store.evictable_until(8), Some(111));
        // From then on the remaining events count.
        store.take_until(111, &mut Vec::new());
        assert_eq!(store.events(), 8);
        (30..32).for_each(|i| run(&mut store, i));
        assert!(store.exceeds_by(8, 3) && !store.exceeds_by(8, 4));
        assert_eq!(store.evictable_until(8), Some(119));
    }

    impl Store {
        fn idle(&self) -> usize {
            self.free.len() + self.untouched.len()
        }
    }

    #[test]
    fn idle_memory_is_given_back() {
        const CHUNKS: usize = 60;
        let mut store = Store::new(4, 160);
        (0..CHUNKS as u64).for_each(|i| keep(&mut store, 1, i as Sequence, &run(i * 4..i * 4 + 4)));
        let mut dropped = Vec::new();
        assert_eq!(store.take_until(u64::MAX, &mut dropped), 4 * CHUNKS as u64);
        dropped.into_iter().for_each(|segment| store.recycle(segment.into_chunk()));
        assert_eq!((store.free.len(), store.max_idle), (32, 8));
        let free = |store: &mut Store| (store.give_back_memory(), store.free.len());
        assert_eq!(free(&mut store), (24, 32), "they may not be idle for long");
        // Twenty are taken before the next call, so twelve were idle all the time.
        let taken: Vec<_> = (0..20).map(|_| store.take_writer()).collect();
        taken.into_iter().for_each(|writer| store.give_back(writer));
        assert_eq!(free(&mut store), (20, 28));
        assert_eq!(free(&mut store), (0, 8));
        assert!(store.untouched.len() >= 40, "{}", store.untouched.len());
        // The chunks are as good as new.
        for _ in 0..store.idle() {
            let writer = store.take_writer();
            assert!(run(0..4).into_iter().all(|record| writer.push(record)));
            assert!(writer.chunk().items().iter().copied().eq(run(0..4)));
        }
    }

    #[test]
    fn preallocation_is_bounded() {
        let records = |chunk_records, max_events| {
            let free = Store::new(chunk_records, max_events).untouched;
            assert!(free.len() <= MAX_PREALLOCATED_CHUNKS + MAX_ALLOCATION_CHUNKS);
            free.len() * chunk_records
        };
        for chunk_records in [1, 64, 1953] {
            assert!(
                records(chunk_records, usize::MAX)
                    <= MAX_PREALLOCATED_RECORDS + 2 * ALLOCATION_RECORDS
            );
        }
        assert!(records(1953, 1_000_000) >= 1_000_000);
    }

    #[test]
    fn shared_chunks_are_evicted_by_time() {
        let mut store = Store::new(100, 8);
        store.keep_tail(1, &mut 0, &run(1..5));
        store.keep_tail(2, &mut 0, &run(3..20));
        let mut dropped = Vec::new();
        store.take_until(4, &mut dropped);
        assert_eq!(store.events(), 15);
        assert_eq!(shape(&store), [(2, (5..20).collect())]);
        let ticks = |s: &Segment| s.records().iter().map(|r| r.ticks).collect::<Vec<_>>();
        assert_eq!(dropped.iter().map(ticks).collect::<Vec<_>>(), [vec![1, 2, 3, 4], vec![3, 4]]);
    }

    #[test]
    fn memory_is_reused_unless_a_snapshot_shares_it() {
        let mut store = Store::new(4, 8);
        let free = store.idle();
        let recycle = |store: &mut Store, segments: Vec<Segment>| {
            segments.into_iter().for_each(|segment| store.recycle(segment.into_chunk()));
        };
        keep(&mut store, 1, 0, &run(0..4));
        keep(&mut store, 1, 1, &run(4..8));
        assert_eq!(store.idle(), free - 2);
        let mut snapshot = Vec::new();
        store.segments(&mut snapshot);
        snapshot.truncate(1);
        let mut dropped = Vec::new();
        store.take_until(7, &mut dropped);
        recycle(&mut store, dropped);
        assert_eq!((store.idle(), store.free.len()), (free - 1, 1));
        assert_eq!(snapshot[0].records().len(), 4);
    }

    #[test]
    fn runs_out_of_order_are_taken_eventually() {
        let mut store = Store::new(8, 8);
        let ticks = [10, 20, 30, 5, 40].map(|ticks| run(ticks..ticks + 1)[0]);
        store.keep_tail(1, &mut 0, &ticks);
        store.keep_tail(2, &mut 0, &run(50..56));
        let mut taken = Vec::new();
        assert_eq!((store.take_until(7, &mut taken), store.events()), (0, 11));
        assert_eq!((store.take_until(40, &mut taken), store.events()), (5, 6));
    }

    #[test]
    fn a_run_longer_than_a_chunk_is_kept_in_order() {
        let mut store = Store::new(4, 100);
        let mut sequence = 5;
        store.keep_tail(1, &mut sequence, &run(0..10));
        assert_eq!(sequence, 9);
        let ticks: Vec<_> = shape(&store).into_iter().flat_map(|(_, ticks)| ticks).collect();
        assert_eq!(ticks, (0..10).collect::<Vec<_>>());
    }
}
