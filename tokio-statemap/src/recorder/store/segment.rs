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
        (self.stream, self.begins(), self.sequence)
    }

    /// Returns the time of its first record, in ticks.
    pub(crate) fn begins(&self) -> u64 {
        self.records().first().map_or(0, |record| record.ticks)
    }

    /// Sorts by [`order`](Self::order), in a way that a hook can afford.
    pub(crate) fn sort(segments: &mut [Self]) {
        heapsort(segments, &|a, b| a.order() < b.order());
    }

    /// Sorts by [`order`](Self::order), outside of hooks.
    pub(crate) fn sort_in_order(segments: &mut [Self]) {
        crate::util::sort::by_key(segments, Self::order);
    }

    pub(crate) fn records(&self) -> &[Record] {
        &self.chunk.items()[self.range.clone()]
    }

    /// Returns the records from `from_ticks` to `to_ticks`, both included.
    pub(crate) fn between(&self, from_ticks: u64, to_ticks: u64) -> &[Record] {
        let records = self.records();
        let from = records_before(records, from_ticks);
        let to = records_until(records, to_ticks);
        &records[from..to.max(from)]
    }

    /// Removes the segments without records.
    pub(crate) fn retain_full(segments: &mut Vec<Self>) {
        segments.retain(|segment| !segment.range.is_empty());
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
        self.split_front(records_until(self.records(), until_ticks))
    }

    pub(crate) fn into_chunk(self) -> SharedChunk {
        self.chunk
    }

    /// Keeps only the first `n` records.
    pub(crate) fn truncate(&mut self, n: usize) {
        self.range.end = self.range.start + n;
    }
}

/// Returns the number of records up to `ticks`.
#[inline(never)]
pub(crate) fn records_until(records: &[Record], ticks: u64) -> usize {
    records.partition_point(|record| record.ticks <= ticks)
}

/// Returns the number of records before `ticks`.
pub(crate) fn records_before(records: &[Record], ticks: u64) -> usize {
    ticks.checked_sub(1).map_or(0, |until| records_until(records, until))
}

// Only events count for the edges: a thread's end is recorded even while recording is stopped.

/// Returns the time of the first of all events, in ticks.
pub(crate) fn first_event(segments: &[Segment]) -> Option<u64> {
    let mut first: Option<u64> = None;
    for segment in segments {
        if let Some(event) = segment.records().iter().find(|record| record.is_event()) {
            first = Some(first.unwrap_or(u64::MAX).min(event.ticks));
        }
    }
    first
}

/// Returns the time of the last of all events, in ticks.
pub(crate) fn last_event(segments: &[Segment]) -> Option<u64> {
    let mut last = None;
    for segment in segments {
        let event = segment.records().iter().rfind(|record| record.is_event());
        last = last.max(event.map(|event| event.ticks));
    }
    last
}

/// Returns the number of events in `segments`.
pub(crate) fn events_of(segments: &[Segment]) -> u64 {
    let mut events = 0;
    for segment in segments {
        events += events_in(segment.records());
    }
    events
}

/// Returns the number of events from `from_ticks` to `to_ticks`, both included.
#[inline(never)]
pub(crate) fn events_between(segments: &[Segment], from_ticks: u64, to_ticks: u64) -> u64 {
    let mut events = 0;
    for segment in segments {
        events += events_in(segment.between(from_ticks, to_ticks));
    }
    events
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
