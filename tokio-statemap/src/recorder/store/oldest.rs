//! Finds the oldest events over all threads.

use crate::recorder::record::{Record, events_in};
use crate::recorder::store::segment::{Segment, last_event, records_before};
use crate::recorder::window::Window;

/// Returns how many records of each of `segments` belong to the oldest `events` events over all threads. Of events at
/// the same time, the first ones belong to them. The segments are sorted by stream, and hold `stored_events`.
///
/// Searches from the nearer end, which is usually a few thousand of millions of events away.
pub(crate) fn oldest(segments: &[Segment], events: u64, stored_events: u64) -> Vec<usize> {
    let newer = stored_events.saturating_sub(events);
    let edge = if events <= newer {
        nth(segments, events, false)
            .map(|ticks| Edge { ticks, events: events.saturating_sub(before(segments, ticks)) })
    } else {
        nth(segments, newer + 1, true).map(|ticks| {
            let since = stored_events.saturating_sub(before(segments, ticks));
            Edge { ticks, events: since.saturating_sub(newer) }
        })
    };
    let Some(mut edge) = edge else { return vec![0; segments.len()] };
    let mut places = Vec::with_capacity(segments.len());
    for segment in segments {
        places.push(edge.place_in(segment.records()));
    }
    places
}

/// Returns the `kept` oldest events, and the windows until the last of them.
pub(crate) fn first_of(
    segments: &[Segment],
    kept: u64,
    stored_events: u64,
    windows: &[Window],
) -> (Vec<Segment>, Vec<Window>) {
    let mut first = segments.to_vec();
    for (segment, n) in first.iter_mut().zip(oldest(segments, kept, stored_events)) {
        segment.truncate(n);
    }
    Segment::retain_full(&mut first);
    let until_last = until(last_event(&first).unwrap_or(u64::MAX), windows);
    (first, until_last)
}

/// Returns the windows that begin no later than `last`, cut as if that were the end.
pub(crate) fn until(last: u64, windows: &[Window]) -> Vec<Window> {
    let mut all = Vec::new();
    for window in windows {
        if window.from <= last {
            all.push(Window { to: window.to.map(|to| to.min(last)), ..*window });
        }
    }
    all
}

/// All events before `ticks` are among the oldest, and so are `events` of those at `ticks`.
struct Edge {
    ticks: u64,
    events: u64,
}

impl Edge {
    /// Returns how many of the next segment's records belong to the oldest.
    fn place_in(&mut self, records: &[Record]) -> usize {
        let mut place = records_before(records, self.ticks);
        while place < records.len() && records[place].ticks == self.ticks && self.events > 0 {
            self.events -= u64::from(records[place].is_event());
            place += 1;
        }
        place
    }
}

/// Returns the time of the `nth` event, in ticks, if there are that many. Counts from the last event if `from_end`.
fn nth(segments: &[Segment], nth: u64, from_end: bool) -> Option<u64> {
    let most = usize::try_from(nth).unwrap_or(usize::MAX);
    // The first events of all threads are among the first events of each thread.
    let mut ticks = Vec::new();
    let (mut stream, mut left) = (None, most);
    for n in 0..segments.len() {
        let segment = &segments[if from_end { segments.len() - 1 - n } else { n }];
        if stream.replace(segment.stream) != Some(segment.stream) {
            left = most;
        }
        let records = segment.records();
        for n in 0..records.len() {
            let record = records[if from_end { records.len() - 1 - n } else { n }];
            if left == 0 {
                break;
            }
            if record.is_event() {
                ticks.push(record.ticks);
                left -= 1;
            }
        }
    }
    let place = if from_end { ticks.len().checked_sub(most)? } else { most.checked_sub(1)? };
    (place < ticks.len()).then(|| *ticks.select_nth_unstable(place).1)
}

/// Returns the number of events before `ticks`.
fn before(segments: &[Segment], ticks: u64) -> u64 {
    let mut events = 0;
    for segment in segments {
        let records = segment.records();
        events += events_in(&records[..records_before(records, ticks)]);
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::record::Kind;

    /// Streams of times; every third record is a note, and a segment holds up to three records.
    fn segments_of(streams: &[Vec<u64>]) -> Vec<Segment> {
        let mut segments = Vec::new();
        for (stream, ticks) in (0..).zip(streams) {
            for (n, ticks) in (0..).zip(ticks.chunks(3)) {
                let record = |(i, &ticks): (usize, &u64)| {
                    Record::new(ticks, if i % 3 == 1 { Kind::Role } else { Kind::Park }, 0)
                };
                let records: Vec<_> = ticks.iter().enumerate().map(record).collect();
                segments.push(Segment::from_records(stream, n, &records));
            }
        }
        segments
    }

    /// Returns the reference implementation, record by record.
    fn one_by_one(segments: &[Segment], events: u64) -> Vec<usize> {
        let records = segments.iter().flat_map(|segment| segment.records());
        let mut ticks: Vec<u64> = records.filter(|r| r.is_event()).map(|r| r.ticks).collect();
        ticks.sort_unstable();
        let Some(&at) = events.checked_sub(1).and_then(|nth| ticks.get(nth as usize)) else {
            return vec![0; segments.len()];
        };
        let mut left = events - ticks.iter().filter(|&&ticks| ticks < at).count() as u64;
        let place = |segment: &Segment| {
            let is_newer = |record: &Record| {
                let is_older = record.ticks < at || record.ticks == at && left > 0;
                left -= u64::from(is_older && record.ticks == at && record.is_event());
                !is_older
            };
            segment.records().iter().position(is_newer).unwrap_or(segment.records().len())
        };
        segments.iter().map(place).collect()
    }

    #[test]
    fn it_equals_the_reference_implementation() {
        let mut seed = 1_u64;
        let mut random = |below: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        // Miri takes a thousand times as long.
        for _ in 0..if cfg!(miri) { 3 } else { 300 } {
            let streams: Vec<Vec<u64>> = (0..random(5))
                .map(|_| {
                    let mut ticks: Vec<u64> = (0..random(20)).map(|_| random(12)).collect();
                    ticks.sort_unstable();
                    ticks
                })
                .collect();
            let segments = segments_of(&streams);
            let stored = before(&segments, u64::MAX);
            for events in 0..=stored {
                let places = oldest(&segments, events, stored);
                assert_eq!(places, one_by_one(&segments, events), "{events} of {streams:?}");
                let kept = segments.iter().zip(places).map(|(s, n)| events_in(&s.records()[..n]));
                assert_eq!(kept.sum::<u64>(), events);
            }
        }
    }
}
