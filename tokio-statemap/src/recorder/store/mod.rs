//! Where full buffers go: bounded blocks of records, in memory that is used again.
//!
//! What is here is never changed, so that a snapshot shares it rather than copies it.

mod blocks;
pub(crate) mod buffer;
pub(crate) mod segment;
mod shared_chunk;

use std::sync::Arc;

use crate::recorder::record::{Record, events_in};
use crate::recorder::store::blocks::{Block, Blocks, Content};
use crate::recorder::store::segment::{
    Segment, Sequence, SharedChunk, StreamId, Writer, events_of,
};
use crate::recorder::store::shared_chunk::{split_streams, write_run};

/// At most how many records there is memory for ahead: 16 MB of address space. Pages that nothing
/// is written to take no memory.
const RECORDS_AHEAD: usize = 1 << 20;

/// How many records, in chunks, there is memory allocated for at once: 256 KB, so that memory is
/// asked for seldom and an allocator leaves it untouched, and so little that a thread which still
/// holds one chunk when the others are done with keeps little alive.
const RECORDS_AT_ONCE: usize = 1 << 14;

/// No more chunks than that at once.
const CHUNKS_AT_ONCE: usize = 16;

/// For how many records memory ahead is allocated at once: for more, as there is a bound to it, and a
/// program waits for it to start.
const RECORDS_AT_START: usize = 1 << 16;

/// No more chunks than that ahead: what is known of each takes memory.
const CHUNKS_AHEAD: usize = 1024;

#[derive(Debug)]
pub(crate) struct Store {
    chunk_records: usize,
    blocks: Blocks,
    /// Runs that are too short for a block of their own, each led by a `Stream` note: ten thousand
    /// short-lived threads share a few blocks.
    tails: Option<Writer>,
    free: Vec<Writer>,
    /// Empty but while blocks are divided; kept for its memory, as hooks do so.
    begun: Vec<Block>,
    events: u64,
    /// From how many events on it is worth a look again whether any are too many.
    search_at: u64,
}

impl Store {
    /// A store of chunks of `chunk_records`, with memory ahead for `max_events`.
    pub(crate) fn new(chunk_records: usize, max_events: usize) -> Self {
        let wanted = (max_events / chunk_records).saturating_add(8);
        let ahead = wanted.min(RECORDS_AHEAD / chunk_records + 1).min(CHUNKS_AHEAD);
        let mut free = Vec::with_capacity(ahead + CHUNKS_AT_ONCE);
        while free.len() < ahead {
            let chunks = (RECORDS_AT_START / chunk_records).clamp(1, ahead - free.len());
            free.extend(Writer::of_new_chunks(chunks, chunk_records));
        }
        Self {
            chunk_records,
            blocks: Blocks::with_capacity(ahead),
            tails: None,
            free,
            begun: Vec::new(),
            events: 0,
            search_at: 0,
        }
    }

    /// To write a chunk, in memory that is used again if there is any.
    pub(crate) fn take_writer(&mut self) -> Writer {
        loop {
            if let Some(writer) = self.free.pop() {
                return writer;
            }
            let chunks = (RECORDS_AT_ONCE / self.chunk_records).clamp(1, CHUNKS_AT_ONCE);
            self.free.extend(Writer::of_new_chunks(chunks, self.chunk_records));
        }
    }

    /// Uses the memory of a chunk again, unless someone else still has it.
    pub(crate) fn recycle(&mut self, chunk: SharedChunk) {
        if self.free.len() < self.free.capacity() {
            self.free.extend(Writer::again(chunk));
        }
    }

    /// Keeps what a thread's buffer held.
    pub(crate) fn keep(&mut self, segment: Segment, events: u64) {
        self.events += events;
        self.blocks.add(Content::Single(segment), events);
    }

    /// Keeps what doesn't fill a chunk, in runs from `sequence` on, which is the next one's then.
    pub(crate) fn keep_tail(
        &mut self,
        stream: StreamId,
        sequence: &mut Sequence,
        records: &[Record],
    ) {
        // A run must not be parted from the note that leads it.
        for run in records.chunks(self.chunk_records - 1) {
            if let Some(full) = self.tails.take_if(|tails| !tails.has_room_for(1 + run.len())) {
                self.keep_shared(&full);
            }
            let tails = self.tails.take().unwrap_or_else(|| self.take_writer());
            self.events += events_in(run);
            write_run(&tails, stream, *sequence, run);
            self.tails = Some(tails);
            *sequence = sequence.wrapping_add(1);
        }
    }

    fn keep_shared(&mut self, full: &Writer) {
        let chunk = Arc::clone(full.chunk());
        let events = events_in(chunk.items());
        self.blocks.add(Content::Shared(chunk), events);
    }

    /// Whether there are `much` more events than at which some could be dropped.
    pub(crate) fn is_far_above(&self, max_events: u64, much: u64) -> bool {
        self.events > self.search_at.max(max_events).saturating_add(much)
    }

    /// The address of the oldest records.
    pub(crate) fn oldest_address(&self) -> Option<usize> {
        self.blocks.get(0).map(|block| block.records().as_ptr().addr())
    }

    /// How many events are kept here.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// Up to which time blocks can be dropped so that, of what is newer, the blocks alone still
    /// hold `max_events`. `None` if no block can be dropped.
    pub(crate) fn surplus(&mut self, max_events: u64) -> Option<u64> {
        let oldest = self.blocks.get(0)?;
        if self.events.saturating_sub(oldest.events) < max_events {
            return None;
        }
        if self.events < self.search_at {
            return None;
        }
        // All that can go goes at once: a snapshot keeps hooks from dropping for a while.
        let mut rest = self.events;
        let may_go = self.blocks.iter().take_while(|block| {
            rest -= block.events;
            rest >= max_events
        });
        // No more than by their sum: seldom more than a few, so that the search is short.
        let mut n = may_go.count();
        let newer = |block: &Block| self.blocks.events_after(block.last_ticks);
        let last = loop {
            match n.checked_sub(1).and_then(|last| self.blocks.get(last)) {
                Some(last) if newer(last) < max_events => n -= 1,
                last => break last.map(|last| last.last_ticks),
            }
        };
        // Each event kept from now on adds at most one to what is newer.
        let missing = self.blocks.get(n).map_or(0, |next| max_events.saturating_sub(newer(next)));
        let dropped: u64 = self.blocks.iter().take(n).map(|block| block.events).sum();
        self.search_at = self.events - dropped + missing;
        last
    }

    /// Takes out what is no later than `until_ticks`, also of blocks that reach beyond. Returns how
    /// many events that were.
    ///
    /// All of it must go at once: the live_tasks would take a task for living whose end it learns long
    /// before its spawn, and a stream's records must be taken in their order.
    pub(crate) fn take_until(&mut self, until_ticks: u64, into: &mut Vec<Segment>) -> u64 {
        let mut taken = 0;
        while let Some(block) = self.blocks.take_ended(until_ticks) {
            taken += block.events;
            block.segments(into);
        }
        let parts_from = into.len();
        // Each once: what is left of one goes back.
        let mut begun = std::mem::take(&mut self.begun);
        while let Some(block) = self.blocks.take_begun(until_ticks) {
            begun.push(block);
        }
        for block in begun.drain(..) {
            match block.content {
                Content::Single(mut segment) => {
                    into.push(segment.split_until(until_ticks));
                    let events = events_in(segment.records());
                    self.blocks.add(Content::Single(segment), events);
                }
                Content::Shared(chunk) => {
                    let later = self.split_shared(&chunk, until_ticks, into);
                    self.keep_shared(&later);
                }
            }
        }
        self.begun = begun;
        let is_old = |record: &Record| record.ticks <= until_ticks;
        let tails = self.tails.as_ref().map(|tails| Arc::clone(tails.chunk()));
        // Its runs are in no order.
        if let Some(tails) = tails.filter(|tails| tails.items().iter().any(is_old)) {
            self.tails = Some(self.split_shared(&tails, until_ticks, into));
        }
        taken += events_of(&into[parts_from..]);
        self.events -= taken;
        taken
    }

    /// The same where it is not dropped but given away: of what comes next nothing is known.
    pub(crate) fn drain_until(&mut self, until_ticks: u64, into: &mut Vec<Segment>) {
        self.take_until(until_ticks, into);
        self.search_at = 0;
    }

    /// Takes the runs of a shared chunk that are no later than `until_ticks`; returns the rest.
    fn split_shared(
        &mut self,
        chunk: &SharedChunk,
        until_ticks: u64,
        into: &mut Vec<Segment>,
    ) -> Writer {
        let rest = self.take_writer();
        let mut runs = Vec::new();
        split_streams(chunk, &mut runs);
        for mut run in runs {
            into.push(run.split_until(until_ticks));
            write_run(&rest, run.stream, run.sequence, run.records());
        }
        rest
    }

    /// All that is here, by stream, those of one stream in their order.
    pub(crate) fn segments(&self, into: &mut Vec<Segment>) {
        for block in self.blocks.iter() {
            block.segments(into);
        }
        if let Some(tails) = &self.tails {
            split_streams(tails.chunk(), into);
        }
        into.sort_unstable_by_key(Segment::order);
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
    fn tails_of_many_threads_share_blocks_and_come_back_apart() {
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
    fn a_block_is_only_dropped_if_enough_newer_events_stay() {
        let mut store = Store::new(4, 8);
        // A slow thread's block reaches over all of the fast one's: it says nothing about what is
        // complete after the first fast block.
        keep(&mut store, 1, 0, &run(0..4));
        keep(&mut store, 2, 0, &[run(1..2), run(90..91)].concat());
        keep(&mut store, 1, 1, &run(4..8));
        assert_eq!(store.surplus(4), Some(3));
        assert_eq!(store.surplus(5), None);
        let mut dropped = Vec::new();
        store.take_until(3, &mut dropped);
        assert_eq!(dropped.len(), 2, "of the slow one's what is as old");
        assert_eq!(store.events(), 5);
    }

    #[test]
    fn what_was_drained_delays_no_drop() {
        let mut store = Store::new(4, 8);
        // Nothing is newer than the slow thread's block.
        keep(&mut store, 1, 0, &[run(0..1), run(80..81)].concat());
        (0..20).for_each(|i| keep(&mut store, 2, i, &run(u64::from(i) * 4..u64::from(i) * 4 + 4)));
        assert_eq!(store.surplus(8), Some(71));
        store.drain_until(u64::MAX, &mut Vec::new());
        assert_eq!(store.events(), 0);
        (25..28).for_each(|i| keep(&mut store, 2, i, &run(u64::from(i) * 4..u64::from(i) * 4 + 4)));
        assert_eq!(store.surplus(8), Some(103));
    }

    #[test]
    fn far_above_is_only_what_could_be_dropped() {
        let run = |store: &mut Store, i: u64| keep(store, 1, i as Sequence, &run(i * 4..i * 4 + 4));
        let mut store = Store::new(4, 8);
        // Blocks that all last as long: nothing is newer than any of them.
        for i in 0..10 {
            let ends = [Record::new(0, Kind::Park, 0), Record::new(100, Kind::Park, 0)];
            keep(&mut store, 2 + i, 0, &ends);
        }
        assert!(store.is_far_above(8, 4), "nobody has looked yet");
        assert_eq!(store.surplus(8), None);
        assert!(!store.is_far_above(8, 4));
        (26..28).for_each(|i| run(&mut store, i));
        assert!(!store.is_far_above(8, 4));
        (28..30).for_each(|i| run(&mut store, i));
        assert!(store.is_far_above(8, 4));
        assert_eq!(store.surplus(8), Some(111));
        // It is as much as stays that counts from then on.
        store.take_until(111, &mut Vec::new());
        assert_eq!(store.events(), 8);
        (30..32).for_each(|i| run(&mut store, i));
        assert!(store.is_far_above(8, 3) && !store.is_far_above(8, 4));
        assert_eq!(store.surplus(8), Some(119));
    }

    #[test]
    fn there_is_memory_ahead_for_no_more_than_is_worth_it() {
        let records = |chunk_records, max_events| {
            let free = Store::new(chunk_records, max_events).free;
            assert!(free.len() <= CHUNKS_AHEAD + CHUNKS_AT_ONCE);
            free.len() * chunk_records
        };
        for chunk_records in [1, 64, 1953] {
            assert!(records(chunk_records, usize::MAX) <= RECORDS_AHEAD + 2 * RECORDS_AT_ONCE);
        }
        assert!(records(1953, 1_000_000) >= 1_000_000);
    }

    #[test]
    fn what_streams_share_is_dropped_by_time_not_by_block() {
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
    fn memory_is_used_again_unless_a_snapshot_shares_it() {
        let mut store = Store::new(4, 8);
        let free = store.free.len();
        let recycle = |store: &mut Store, segments: Vec<Segment>| {
            segments.into_iter().for_each(|segment| store.recycle(segment.into_chunk()));
        };
        keep(&mut store, 1, 0, &run(0..4));
        keep(&mut store, 1, 1, &run(4..8));
        assert_eq!(store.free.len(), free - 2);
        let mut snapshot = Vec::new();
        store.segments(&mut snapshot);
        snapshot.truncate(1);
        let mut dropped = Vec::new();
        store.take_until(7, &mut dropped);
        recycle(&mut store, dropped);
        assert_eq!(store.free.len(), free - 1);
        assert_eq!(snapshot[0].records().len(), 4);
    }

    #[test]
    fn runs_out_of_order_are_taken_in_the_end() {
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
