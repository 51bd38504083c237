//! The part of a capture from before the recent records: the records around the longest polls of the run.

use std::sync::Arc;

use crate::recorder::capture::Capture;
use crate::recorder::memory::eviction::pinned::PinnedWindow;
use crate::recorder::memory::live_tasks::{LiveTask, Stream};
use crate::recorder::store::segment::{Segment, StreamId};

/// The state where a pinned window begins. Its records are among the segments.
#[derive(Debug)]
pub(crate) struct PinnedState {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// The threads, each with whether the tasks that it polled were alive.
    pub(crate) threads: Vec<(StreamId, Stream, Vec<bool>)>,
    /// The tasks in it, as they were before.
    pub(crate) tasks: Vec<(u64, LiveTask)>,
}

impl Capture {
    /// Adds what was pinned of the time up to `done_until`: the records, the windows, and the state where each window
    /// begins.
    pub(crate) fn add_pinned(
        &mut self,
        pinned: &[Arc<PinnedWindow>],
        done_until: u64,
        ended: &[(u64, u64)],
    ) {
        if pinned.is_empty() {
            return;
        }
        let (detail, end) = (self.begin, self.end);
        // Segments that were cut may be empty.
        Segment::retain_full(&mut self.segments);
        self.windows.retain(|&(_, to)| to > detail || to == end);
        if let Some((from, _)) = self.windows.first_mut() {
            *from = (*from).max(detail);
        }
        let mut windows = Vec::new();
        for pin in pinned {
            pin.segments(&mut self.segments);
            let (from, to) = (pin.from, pin.to.min(done_until));
            windows.push((from, to.min(detail).max(from)));
            let mut tasks = Vec::new();
            for (&id, task) in pin.tasks.iter() {
                if let Some(task) = *task {
                    tasks.push((id, task));
                }
            }
            self.pinned.push(PinnedState { from, to, threads: pin.threads.clone(), tasks });
        }
        Segment::sort_in_order(&mut self.segments);
        self.begin = windows[0].0;
        windows.append(&mut self.windows);
        self.windows = windows;
        self.ended.extend(ended);
    }

    /// Returns what was known of the stream where `segment` begins: where the recent records begin, or its pinned
    /// window. Also returns the place of that window.
    pub(crate) fn known(&self, segment: &Segment) -> (usize, Option<&Stream>) {
        let stream = segment.stream;
        let first = segment.begins();
        if self.pinned.last().is_none_or(|last| first > last.to) {
            return (self.pinned.len(), self.memory.live_tasks.stream(stream));
        }
        // There are few of them.
        let Some(place) = self.pinned.iter().rposition(|pin| pin.from <= first) else {
            return (0, None);
        };
        for (id, known, _) in &self.pinned[place].threads {
            if *id == stream {
                return (place, Some(known));
            }
        }
        (place, None)
    }
}
