//! The account: each record that was emitted is seen exactly once, or dropped and counted.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::config::{CollectorConfig, Keep};
use crate::recorder::Recorder;
use crate::recorder::hot::thread_recorder::ThreadRecorder;
use crate::recorder::record::Kind;
use crate::recorder::store::segment::StreamId;
use crate::recorder::window::Window;
use crate::trace::snapshot::Snapshot;

/// Returns a recorder with chunks of two records, and one spare chunk for each thread.
pub(super) fn recorder(keep: Keep, max_events: usize) -> Recorder {
    let config = CollectorConfig {
        keep,
        max_events,
        buffer_capacity: 2,
        stacks: false,
        ..CollectorConfig::default()
    };
    let recorder = Recorder::new(config);
    // It isn't started, or the background thread would be a real one.
    recorder.kept.windows().all.push(Window::new(0, None));
    recorder
}

/// Returns the ids of the thread with this number, in the order in which it emits them.
pub(super) fn ids(number: u64, range: Range<u64>) -> Range<u64> {
    number * 100 + range.start..number * 100 + range.end
}

/// Records an event for each id.
pub(super) fn emit(recorder: &Recorder, thread: &mut ThreadRecorder, ids: Range<u64>) {
    for id in ids {
        thread.push(recorder, recorder.kept.clock.ticks(), Kind::Spawn, id);
    }
}

/// Checks that `snapshot` has the last events that each thread emitted: each once, in order, and in one stream. All
/// before them must be dropped, or among the `taken` ones. Returns the number of all these events.
pub(super) fn check(snapshot: &Snapshot, taken: u64) -> u64 {
    let mut threads: BTreeMap<u64, Vec<(StreamId, u64)>> = BTreeMap::new();
    for segment in &snapshot.capture.segments {
        for record in segment.records().iter().filter(|record| record.is_event()) {
            let (number, id) = (record.payload() / 100, record.payload() % 100);
            threads.entry(number).or_default().push((segment.stream, id));
        }
    }
    let (mut kept, mut before) = (0, 0);
    for (number, ids) in &threads {
        let (stream, from) = ids[0];
        let expected = (from..from + ids.len() as u64).map(|id| (stream, id));
        assert!(ids.iter().copied().eq(expected), "{number}: {ids:?}");
        kept += ids.len() as u64;
        before += from;
    }
    let gone = snapshot.capture.lost.total() + taken;
    // If nothing of a thread is kept, it isn't known how many of its events those were.
    assert!(before <= gone, "{before} before what is kept, {gone} dropped: {threads:?}");
    kept + gone
}
