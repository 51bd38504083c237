//! The blocks of the store, ordered by time.

use std::collections::VecDeque;

use crate::recorder::record::Record;
use crate::recorder::store::segment::{Segment, SharedChunk};
use crate::recorder::store::shared_chunk::split_streams;

/// Blocks, sorted by the time of their last record.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    by_end: VecDeque<Block>,
    /// The time at which each block begins and its number of events, sorted. They tell how many events are newer than a
    /// given time without visiting all blocks.
    begins: VecDeque<(u64, u64)>,
    events: u64,
}

/// Records that were moved out of a thread's buffer.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) content: BlockRecords,
    pub(crate) events: u64,
    first_ticks: u64,
    pub(crate) last_ticks: u64,
}

#[derive(Debug)]
pub(crate) enum BlockRecords {
    /// Records of one stream.
    Single(Segment),
    /// Records of several streams, each run after a `Stream` note.
    Shared(SharedChunk),
}

impl Blocks {
    /// Preallocates room for `blocks` blocks.
    pub(crate) fn with_capacity(blocks: usize) -> Self {
        let (by_end, begins) = (VecDeque::with_capacity(blocks), VecDeque::with_capacity(blocks));
        Self { by_end, begins, events: 0 }
    }

    /// Adds a block with `events` events, unless it has no records.
    pub(crate) fn add(&mut self, content: BlockRecords, events: u64) {
        let records = content.records();
        let (Some(first), Some(last)) = (records.first(), records.last()) else { return };
        let (mut first_ticks, mut last_ticks) = (first.ticks, last.ticks);
        // The records of a thread are sorted by time.
        if let BlockRecords::Shared(_) = content {
            for record in records {
                first_ticks = first_ticks.min(record.ticks);
                last_ticks = last_ticks.max(record.ticks);
            }
        }
        // Usually the place is near the end: a binary search would touch memory that is no longer in the cache.
        let mut place = self.by_end.len();
        while place > 0 && self.by_end[place - 1].last_ticks > last_ticks {
            place -= 1;
        }
        self.by_end.insert(place, Block { content, events, first_ticks, last_ticks });
        let mut place = self.begins.len();
        while place > 0 && self.begins[place - 1].0 > first_ticks {
            place -= 1;
        }
        self.begins.insert(place, (first_ticks, events));
        self.events += events;
    }

    /// Returns all blocks, sorted by the time of their last record.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Block> {
        self.by_end.iter()
    }

    pub(crate) fn get(&self, n: usize) -> Option<&Block> {
        self.by_end.get(n)
    }

    /// Returns the number of events in blocks that begin after `ticks`.
    pub(crate) fn events_after(&self, ticks: u64) -> u64 {
        let mut newer = self.events;
        for &(first_ticks, events) in &self.begins {
            if first_ticks > ticks {
                break;
            }
            newer -= events;
        }
        newer
    }

    /// Removes the first block, if it ends no later than `ticks`.
    pub(crate) fn take_ended(&mut self, ticks: u64) -> Option<Block> {
        let ended = self.by_end.front().is_some_and(|block| block.last_ticks <= ticks);
        if ended { self.remove(0) } else { None }
    }

    /// Removes a block that begins no later than `ticks`.
    pub(crate) fn take_begun(&mut self, ticks: u64) -> Option<Block> {
        let first_ticks = self.begins.front()?.0;
        if first_ticks > ticks {
            return None;
        }
        let mut place = 0;
        while self.by_end.get(place)?.first_ticks != first_ticks {
            place += 1;
        }
        self.remove(place)
    }

    fn remove(&mut self, place: usize) -> Option<Block> {
        let block = self.by_end.remove(place)?;
        // It is near the front: blocks that end early begin early. Blocks that begin at the same
        // time are told apart by their number of events, which is all that matters here.
        let begin = (block.first_ticks, block.events);
        let mut place = 0;
        while *self.begins.get(place)? != begin {
            place += 1;
        }
        self.begins.remove(place);
        self.events -= block.events;
        Some(block)
    }
}

impl Block {
    /// Appends its runs to `into`.
    pub(crate) fn segments(&self, into: &mut Vec<Segment>) {
        match &self.content {
            BlockRecords::Single(segment) => into.push(segment.clone()),
            BlockRecords::Shared(chunk) => split_streams(chunk, into),
        }
    }
}

impl BlockRecords {
    fn records(&self) -> &[Record] {
        match self {
            Self::Single(segment) => segment.records(),
            Self::Shared(chunk) => chunk.items(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::record::Kind;

    /// Blocks that begin and end at these ticks.
    fn blocks_of(blocks: &[(u64, u64)]) -> Blocks {
        let mut all = Blocks::default();
        for &(from, to) in blocks {
            let records = [from, to].map(|ticks| Record::new(ticks, Kind::Park, 0));
            all.add(BlockRecords::Single(Segment::from_records(0, 0, &records)), 2);
        }
        all
    }

    #[test]
    fn late_blocks_are_sorted_in() {
        let mut blocks = blocks_of(&[(10, 20), (30, 60), (5, 40), (1, 70), (35, 50)]);
        let ends: Vec<u64> = blocks.iter().map(|block| block.last_ticks).collect();
        assert_eq!(ends, [20, 40, 50, 60, 70]);
        let after = |ticks| blocks.events_after(ticks);
        assert_eq!([0, 1, 5, 10, 30, 35].map(after), [10, 8, 6, 4, 2, 0]);
        assert!(blocks.take_ended(19).is_none());
        assert_eq!(blocks.take_ended(20).map(|block| block.first_ticks), Some(10));
        let begun = std::iter::from_fn(|| blocks.take_begun(30)).map(|block| block.first_ticks);
        assert_eq!(begun.collect::<Vec<_>>(), [1, 5, 30]);
        assert_eq!((blocks.events, blocks.events_after(0)), (2, 2));
    }
}
