//! Splits segments by the windows of recording. The work for a window depends on its records only.

use crate::recorder::record::Record;
use crate::recorder::store::segment::{Segment, StreamId, records_before};
use crate::util::heapsort::{heapify, heapsort, sift_root};

/// The state while segments are split. It is used again, so that a hook that evicts allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct ByWindow {
    /// The segments that have records left, each after the time of its next record: a heap whose root is the earliest.
    left: Vec<(u64, usize)>,
    /// The number of records taken from each segment.
    taken: Vec<usize>,
    /// The runs in the window.
    runs: Vec<Run>,
}

/// The records of a segment that are in a window.
#[derive(Clone, Copy, Debug)]
struct Run {
    segment: usize,
    from: usize,
    to: usize,
}

impl ByWindow {
    pub(super) fn begin(&mut self, segments: &[Segment]) {
        self.end();
        self.taken.resize(segments.len(), 0);
        for (number, segment) in segments.iter().enumerate() {
            if let Some(first) = segment.records().first() {
                self.left.push((first.ticks, number));
            }
        }
        heapify(&mut self.left, &|a, b| a < b);
    }

    pub(super) fn end(&mut self) {
        self.left.clear();
        self.taken.clear();
        self.runs.clear();
    }

    /// Takes the records before `until` that are left.
    pub(super) fn take_until(&mut self, segments: &[Segment], until: u64) {
        self.runs.clear();
        while let Some(&(next, segment)) = self.left.first() {
            if next >= until {
                break;
            }
            let from = self.taken[segment];
            let records = &segments[segment].records()[from..];
            let n = records_before(records, until);
            self.taken[segment] = from + n;
            match records.get(n) {
                Some(next) => self.left[0].0 = next.ticks,
                None => _ = self.left.swap_remove(0),
            }
            sift_root(&mut self.left, &|a, b| a < b);
            self.runs.push(Run { segment, from, to: from + n });
        }
        heapsort(&mut self.runs, &|a, b| (a.segment, a.from) < (b.segment, b.from));
    }

    /// Takes all records that are left.
    pub(super) fn take_all(&mut self, segments: &[Segment]) {
        self.runs.clear();
        for (number, segment) in segments.iter().enumerate() {
            let (from, to) = (self.taken[number], segment.records().len());
            if from < to {
                self.runs.push(Run { segment: number, from, to });
            }
        }
        self.left.clear();
    }

    /// Returns the runs in the window, in the order of the segments.
    pub(super) fn runs<'a>(&'a self, segments: &'a [Segment]) -> Runs<'a> {
        Runs { segments, parts: Some(&self.runs) }
    }
}

/// The runs of records of one window, without empty ones.
#[derive(Clone, Debug)]
pub(super) struct Runs<'a> {
    segments: &'a [Segment],
    /// The parts of the segments that are in the window; `None` if all of them are.
    parts: Option<&'a [Run]>,
}

impl<'a> Runs<'a> {
    pub(super) fn whole(segments: &'a [Segment]) -> Self {
        Self { segments, parts: None }
    }
}

impl<'a> Iterator for Runs<'a> {
    type Item = (StreamId, &'a [Record]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (segment, records) = match &mut self.parts {
                None => {
                    let (segment, later) = self.segments.split_first()?;
                    self.segments = later;
                    (segment, segment.records())
                }
                Some(parts) => {
                    let (run, later) = parts.split_first()?;
                    *parts = later;
                    let segment = &self.segments[run.segment];
                    (segment, &segment.records()[run.from..run.to])
                }
            };
            if !records.is_empty() {
                return Some((segment.stream, records));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::record::Kind;

    /// Segments of threads that write seldom and often.
    fn segments(n: u64) -> Vec<Segment> {
        let segment = |stream: u64| {
            let ticks = (0..400).map(|i| 3 * stream + i * (1 + stream * stream % 50));
            let records: Vec<_> = ticks.map(|ticks| Record::new(ticks, Kind::Park, 0)).collect();
            Segment::from_records(stream as StreamId, 0, &records)
        };
        (0..n).map(segment).collect()
    }

    #[test]
    fn each_window_has_what_is_in_it_and_takes_no_more() {
        for (streams, length) in [(0, 3), (1, 7), (30, 1), (30, 100), (30, 5000), (30, 1 << 20)] {
            let segments = segments(streams);
            let records = || segments.iter().flat_map(Segment::records);
            let last = records().map(|record| record.ticks).max().unwrap_or_default();
            let mut by_window = ByWindow::default();
            by_window.begin(&segments);
            let (mut from, mut runs, mut taken) = (0, 0, 0);
            while from <= last {
                let until = from + length;
                let naive = segments.iter().map(|segment| {
                    let is_in = |record: &&Record| (from..until).contains(&record.ticks);
                    (segment.stream, segment.records().iter().filter(is_in).collect::<Vec<_>>())
                });
                let naive: Vec<_> = naive.filter(|(_, records)| !records.is_empty()).collect();
                if until > last {
                    by_window.take_all(&segments);
                } else {
                    by_window.take_until(&segments, until);
                }
                let found = by_window.runs(&segments);
                let found: Vec<_> =
                    found.map(|(stream, run)| (stream, run.iter().collect::<Vec<_>>())).collect();
                assert_eq!(found, naive, "{from}..{until}");
                runs += by_window.runs.len();
                taken += found.iter().map(|(_, run)| run.len()).sum::<usize>();
                from = until;
            }
            // The work isn't the number of windows times that of segments.
            assert!(taken == records().count() && runs <= taken, "{runs} of {taken}");
        }
    }
}
