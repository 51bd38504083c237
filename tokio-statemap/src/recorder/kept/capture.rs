//! Copies what is kept at one moment.

use std::sync::Arc;

use crate::config::Keep;
use crate::recorder::kept::Kept;
use crate::recorder::locks::lock;
use crate::recorder::lost::Lost;
use crate::recorder::memory::Memory;
use crate::recorder::memory::eviction::pinned::PinnedWindow;
use crate::recorder::store::oldest::first_of;
use crate::recorder::store::segment::{Segment, events_of, records_until};
use crate::recorder::window::{Window, Windows};

/// The effect of a capture on the recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Nothing.
    Keep,
    /// Its records are removed.
    Drain,
    /// The sums begin anew.
    ResetSums,
}

/// A copy of everything that is kept at one moment. Times are in ticks.
#[derive(Debug)]
pub(crate) struct KeptRecords {
    /// The moment.
    pub(crate) now: u64,
    /// The memory of everything before the first record.
    pub(crate) memory: Memory,
    /// Sorted by stream, and within a stream by time.
    pub(crate) segments: Vec<Segment>,
    pub(crate) stored_events: u64,
    /// The most of these that are kept: the oldest or the newest over all threads.
    pub(crate) max_stored: u64,
    pub(crate) windows: Windows,
    pub(crate) pinned: Vec<Arc<PinnedWindow>>,
    /// Everything up to this time is dropped or pinned.
    pub(crate) done_until: u64,
    /// The ends of tasks that are in pinned windows.
    pub(crate) ended: Vec<(u64, u64)>,
    pub(crate) lost: Lost,
}

impl Kept {
    /// Copies what is kept. No worker waits for that, except while pinned windows are copied.
    pub(crate) fn records(&self, then: Then) -> KeptRecords {
        let mut segments = Vec::new();
        // While this is locked, nothing is evicted.
        let mut memory_now = lock(&self.memory);
        let now = self.clock.ticks();
        self.flush();
        let windows = lock(&self.windows).clone();
        // The buffers are flushed one after the other, so that records after `now` are incomplete.
        if then == Then::Drain {
            lock(&self.store).drain_until(now, &mut segments);
        } else {
            lock(&self.store).segments(&mut segments);
            for segment in &mut segments {
                segment.truncate(records_until(segment.records(), now));
            }
        }
        // Takes what has left the store and isn't dropped yet, and what is pinned. Locked for no longer than that, as a
        // hook may wait for it. Nobody changes this without the lock of the memory.
        let (max_stored, pinned, ended, done_until) = {
            let eviction = lock(&self.eviction);
            for segment in &eviction.staged {
                segments.push(segment.clone());
            }
            let mut pinned = Vec::new();
            for pin in eviction.pinned.iter() {
                pinned.push(Arc::clone(pin));
            }
            let max_stored = self.max_stored(&eviction);
            (max_stored, pinned, eviction.pinned.ended(), eviction.done_until())
        };
        Segment::retain_full(&mut segments);
        Segment::sort_in_order(&mut segments);
        let stored_events = events_of(&segments);
        let lost = self.lost(stored_events, max_stored);
        memory_now.sums.expect_long_poll(&|| self.long_poll_ticks());
        let memory = memory_now.clone();
        match then {
            Then::Keep => {}
            Then::Drain => {
                self.apply_drained(
                    &mut memory_now,
                    &segments,
                    (stored_events, max_stored),
                    &windows.all,
                );
                self.note_drained(stored_events, max_stored);
                lock(&self.eviction).clear(now);
                memory_now.forget_windows(now, &mut lock(&self.windows));
            }
            Then::ResetSums => {
                memory_now.sums.reset(now, &segments);
                memory_now.sums.missed_before = lost.refused_events + lost.reentrant_events;
            }
        }
        drop(memory_now);
        KeptRecords {
            now,
            memory,
            segments,
            stored_events,
            max_stored,
            windows,
            pinned,
            done_until,
            ended,
            lost,
        }
    }

    /// Applies what was drained to the memory.
    fn apply_drained(
        &self,
        memory: &mut Memory,
        segments: &[Segment],
        (stored_events, max_stored): (u64, u64),
        windows: &[Window],
    ) {
        if self.config.keep == Keep::Last || stored_events <= max_stored {
            return memory.update(segments, windows);
        }
        // Events beyond the limit aren't drained, and count as refused. They still tell which tasks live, and which
        // thread is which worker.
        let (kept, until_last) = first_of(segments, max_stored, stored_events, windows);
        let mut all = memory.with_live_tasks_only();
        memory.update(&kept, &until_last);
        all.update(segments, windows);
        memory.live_tasks = all.live_tasks;
    }
}
