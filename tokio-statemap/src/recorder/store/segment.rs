//! Runs of records of one thread, in memory that can be shared.

use std::ops::Range;
use std::sync::Arc;

use crate::recorder::record::{Record, events_in};
use crate::sys::chunk::{Chunk, ChunkWriter};

/// The number of a stream: the records of one thread, in their order.
pub(crate) type StreamId = u32;

/// The place of a run of records among those of its stream that begin at the same time. It wraps
/// around.
pub(crate) type Sequence = u32;

/// Records in memory that can be shared, and used again once nobody shares it.
pub(crate) type SharedChunk = Arc<Chunk<Record>>;

/// What writes such memory.
pub(crate) type Writer = ChunkWriter<Record>;

/// A run of records of one stream.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) stream: StreamId,
    pub(crate) sequence: Sequence,
    chunk: SharedChunk,
    pub(crate) range: Range<usize>,
}

impl Segment {
    pub(crate) fn new(
        stream: StreamId,
        sequence: Sequence,
        chunk: SharedChunk,
        range: Range<usize>,
    ) -> Self {
        Self { stream, sequence, chunk, range }
    }

    /// One that is all of a chunk of its own.
    #[cfg(test)]
    pub(crate) fn of(stream: StreamId, sequence: Sequence, records: &[Record]) -> Self {
        let writer = Writer::of_new_chunks(1, records.len()).next().expect("one was asked for");
        assert!(records.iter().all(|&record| writer.push(record)));
        Self::new(stream, sequence, Arc::clone(writer.chunk()), 0..records.len())
    }

    /// What to sort by, so that those of one stream are in their order.
    pub(crate) fn order(&self) -> (StreamId, u64, Sequence) {
        (self.stream, self.records().first().map_or(0, |record| record.ticks), self.sequence)
    }

    /// Sorts by that, with hardly any stack: the standard library's puts dozens of segments there.
    /// They are few, most times, and in order.
    pub(crate) fn sort(segments: &mut [Self]) {
        if segments.is_sorted_by_key(Self::order) {
            return;
        }
        // As a heap, whose first is the last in order.
        for parent in (0..segments.len() / 2).rev() {
            Self::sift_down(segments, parent);
        }
        for end in (1..segments.len()).rev() {
            segments.swap(0, end);
            Self::sift_down(&mut segments[..end], 0);
        }
    }

    /// Moves a segment down the heap until none below it is later in order.
    fn sift_down(heap: &mut [Self], mut parent: usize) {
        loop {
            let mut child = 2 * parent + 1;
            if child + 1 < heap.len() && heap[child].order() < heap[child + 1].order() {
                child += 1;
            }
            if child >= heap.len() || heap[parent].order() >= heap[child].order() {
                return;
            }
            heap.swap(parent, child);
            parent = child;
        }
    }

    pub(crate) fn records(&self) -> &[Record] {
        &self.chunk.items()[self.range.clone()]
    }

    /// Takes the first `n` records off, as a segment of their own.
    pub(crate) fn split_front(&mut self, n: usize) -> Self {
        let middle = self.range.start + n;
        let front = Self {
            stream: self.stream,
            sequence: self.sequence,
            chunk: Arc::clone(&self.chunk),
            range: self.range.start..middle,
        };
        self.range.start = middle;
        front
    }

    /// Takes the records up to `until_ticks` off.
    pub(crate) fn split_until(&mut self, until_ticks: u64) -> Self {
        let records = self.records();
        self.split_front(records.partition_point(|record| record.ticks <= until_ticks))
    }

    pub(crate) fn into_chunk(self) -> SharedChunk {
        self.chunk
    }

    /// Drops all but the first `n` records.
    pub(crate) fn truncate(&mut self, n: usize) {
        self.range.end = self.range.start + n;
    }
}

/// How many events `segments` hold.
pub(crate) fn events_of(segments: &[Segment]) -> u64 {
    segments.iter().map(|segment| events_in(segment.records())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::record::Kind;

    #[test]
    fn they_are_sorted_by_stream_and_time() {
        for n in 0..40_u64 {
            let numbers = (0..n).map(|i| i * 7919 % 97);
            let segment = |i: u64| {
                let stream = (i % 5) as StreamId;
                Segment::of(stream, (i % 7) as Sequence, &[Record::new(i / 2, Kind::Park, 0)])
            };
            let mut segments: Vec<_> = numbers.map(segment).collect();
            let mut orders: Vec<_> = segments.iter().map(Segment::order).collect();
            orders.sort_unstable();
            Segment::sort(&mut segments);
            assert!(segments.iter().map(Segment::order).eq(orders));
        }
    }
}
