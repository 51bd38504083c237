//! Copies of the records that enter the store, for the black box.

use crate::recorder::record::{Record, events_in};
use crate::recorder::store::segment::{RecordWriter, Segment, Sequence, StreamId, records_until};
use crate::sys::sync::Arc;

/// The most records that wait to be taken: 16 MB.
const MOST: usize = 1 << 20;

/// The records that entered the store since they were last taken.
#[derive(Debug, Default)]
pub(crate) struct Tapped {
    pub(crate) records: Vec<Record>,
    /// The runs of these records, one after the other.
    pub(crate) runs: Vec<TappedRun>,
    /// The number of events for which there was no room.
    pub(crate) missed: u64,
}

/// A run of records of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TappedRun {
    pub(crate) stream: StreamId,
    pub(crate) sequence: Sequence,
    pub(crate) records: u32,
}

impl Tapped {
    /// Returns an empty one with room for `records` records, but for no more than [`MOST`].
    pub(crate) fn with_capacity(records: usize) -> Self {
        Self { records: Vec::with_capacity(records.min(MOST)), ..Self::default() }
    }

    pub(super) fn add(&mut self, stream: StreamId, sequence: Sequence, records: &[Record]) {
        if self.records.len() + records.len() > MOST {
            self.missed += events_in(records);
        } else {
            self.push(stream, sequence, records);
        }
    }

    fn push(&mut self, stream: StreamId, sequence: Sequence, records: &[Record]) {
        if !records.is_empty() {
            self.records.extend_from_slice(records);
            self.runs.push(TappedRun { stream, sequence, records: records.len() as u32 });
        }
    }
}

impl Tapped {
    /// Splits off what is later than `ticks`.
    pub(crate) fn split_after(&mut self, ticks: u64) -> Self {
        let (mut later, mut kept) = (Self::default(), Self::default());
        let mut rest = &self.records[..];
        for run in &self.runs {
            let (records, after) = rest.split_at(run.records as usize);
            rest = after;
            let (early, late) = records.split_at(records_until(records, ticks));
            kept.push(run.stream, run.sequence, early);
            later.push(run.stream, run.sequence, late);
        }
        kept.missed = self.missed;
        *self = kept;
        later
    }

    /// Adds what came after this.
    pub(crate) fn append(&mut self, mut later: Self) {
        self.records.append(&mut later.records);
        self.runs.append(&mut later.runs);
        self.missed += later.missed;
    }
}

/// Returns runs of records, one after the other in `records`, as segments of a chunk of their own, sorted by stream, and
/// within a stream in order. `None` if the runs aren't all of the records.
pub(crate) fn segments(records: &[Record], runs: &[TappedRun]) -> Option<Vec<Segment>> {
    let in_runs = runs.iter().map(|run| run.records as usize);
    if in_runs.fold(0_usize, usize::saturating_add) != records.len() {
        return None;
    }
    let mut segments = Vec::with_capacity(runs.len());
    let Some(chunk) = RecordWriter::allocate(1, records.len()).next() else {
        return Some(segments);
    };
    for &record in records {
        chunk.push(record);
    }
    let mut from = 0;
    for run in runs {
        let to = from + run.records as usize;
        segments.push(Segment::new(run.stream, run.sequence, Arc::clone(chunk.chunk()), from..to));
        from = to;
    }
    Segment::sort_in_order(&mut segments);
    Some(segments)
}
