//! Runs of records of one thread, in shared memory.

use std::ops::Range;

use crate::recorder::record::{Record, events_in};
use crate::sys::chunk::{Chunk, ChunkWriter};
use crate::sys::sync::Arc;
use crate::util::heapsort::heapsort;

/// Identifies a stream: the records of one thread, in order.
pub(crate) type StreamId = u32;

/// The order of runs of a stream that begin at the same time. It wraps around.
pub(crate) type Sequence = u32;

/// Records in memory that can be shared, and reused when it is no longer shared.
pub(crate) type SharedChunk = Arc<Chunk<Record>>;

/// Writes to a chunk.
pub(crate) type RecordWriter = ChunkWriter<Record>;

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

    /// Returns a segment that fills a chunk of its own.
    #[cfg(test)]
    pub(crate) fn from_records(stream: StreamId, sequence: Sequence, records: &[Record]) -> Self {
        let writer = RecordWriter::allocate(1, records.len()).next().expect("one was asked for");
        assert!(records.iter().all(|&record| writer.push(record)));
        Self::new(stream, sequence, Arc::clone(writer.chunk()), 0..records.len())
    }

    /// Returns the sort key, which sorts the segments of a stream in order.
    pub(crate) fn order(&self) -> (StreamId, u64, Sequence) {
        (self.stream, self.records().first().map_or(0, |record| record.ticks), self.sequence)
    }

    /// Sorts by [`order`](Self::order), as a hook can.
    pub(crate) fn sort(segments: &mut [Self]) {
        heapsort(segments, &|a, b| a.order() < b.order());
    }

    pub(crate) fn records(&self) -> &[Record] {
        &self.chunk.items()[self.range.clone()]
    }

    /// Returns the records of that time, both ends included.
    pub(crate) fn between(&self, from_ticks: u64, to_ticks: u64) -> &[Record] {
        let records = self.records();
        let from = records.partition_point(|record| record.ticks < from_ticks);
        let to = records.partition_point(|record| record.ticks <= to_ticks);
        &records[from..to.max(from)]
    }

    /// Splits the first `n` records off.
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

    /// Splits the records up to `until_ticks` off.
    pub(crate) fn split_until(&mut self, until_ticks: u64) -> Self {
        let records = self.records();
        self.split_front(records.partition_point(|record| record.ticks <= until_ticks))
    }

    pub(crate) fn into_chunk(self) -> SharedChunk {
        self.chunk
    }

    /// Keeps only the first `n` records.
    pub(crate) fn truncate(&mut self, n: usize) {
        self.range.end = self.range.start + n;
    }
}

// Only events move the edges: a thread's end is recorded even while recording is stopped.

/// Returns the first record of `segment` that is an event.
pub(crate) fn first_event(segment: &Segment) -> Option<&Record> {
    segment.records().iter().find(|record| record.is_event())
}

/// Returns the last record of `segment` that is an event.
pub(crate) fn last_event(segment: &Segment) -> Option<&Record> {
    segment.records().iter().rfind(|record| record.is_event())
}

/// Returns the number of events in `segments`.
pub(crate) fn events_of(segments: &[Segment]) -> u64 {
    segments.iter().map(|segment| events_in(segment.records())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::record::Kind;

    #[test]
    fn segments_are_sorted_by_stream_and_time() {
        for n in 0..40_u64 {
            let numbers = (0..n).map(|i| i * 7919 % 97);
            let segment = |i: u64| {
                let stream = (i % 5) as StreamId;
                Segment::from_records(
                    stream,
                    (i % 7) as Sequence,
                    &[Record::new(i / 2, Kind::Park, 0)],
                )
            };
            let mut segments: Vec<_> = numbers.map(segment).collect();
            let mut orders: Vec<_> = segments.iter().map(Segment::order).collect();
            orders.sort_unstable();
            Segment::sort(&mut segments);
            assert!(segments.iter().map(Segment::order).eq(orders));
        }
    }
}
