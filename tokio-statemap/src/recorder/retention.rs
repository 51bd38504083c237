//! Retention: how the store stays within `max_events`.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::config::{CollectorConfig, Keep};
use crate::recorder::eviction::{Eviction, Limits};
use crate::recorder::lost::Lost;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::segment::{RecordWriter, Segment};
use crate::recorder::{Recorder, background};
use crate::sys::sync::MutexGuard;
use crate::util::sync::{lock, try_lock};

/// How much is kept before and after one of the longest polls of the run.
const AROUND: Duration = Duration::from_millis(20);

/// Polls that are shorter aren't kept that way, whatever `long_poll` is.
const SHORTEST_LONG_POLL: Duration = Duration::from_micros(100);

/// With fewer `max_events` no poll is kept that way: there is no room.
const FEWEST_FOR_ISLANDS: usize = 1 << 14;

impl Recorder {
    /// An empty chunk for a thread that was given none in time. It doesn't wait for whoever has the store, and its
    /// memory is prefaulted by nobody. `None` if the background thread isn't there, or threads found too many since it
    /// last came round, as then it is the thread's own work to keep the store within its bounds.
    #[cold]
    #[inline(never)]
    pub(crate) fn find_writer(&self) -> Option<RecordWriter> {
        if !background::is_there()
            || self.found_chunks.fetch_add(1, Ordering::Relaxed) >= chunks_in_all(&self.config)
        {
            return None;
        }
        let of_store = try_lock(&self.store).map(|mut store| store.take_writer());
        of_store.or_else(|| RecordWriter::allocate(1, chunk_records(&self.config)).next())
    }

    /// Moves the full chunk of `writer` to the store, for a thread of which too many wait, or that has no empty one:
    /// the background thread doesn't keep up, or isn't there. Gives it back in the child of a fork in which that
    /// can't be done. Must only be called by the thread of `buffer`.
    #[cold]
    #[inline(never)]
    pub(crate) fn hand_over(
        &self,
        buffer: &Buffer,
        writer: RecordWriter,
        notes: usize,
    ) -> Result<(), RecordWriter> {
        if background::is_forked() && !self.is_free() {
            return Err(writer);
        }
        if !background::is_there() {
            self.add_anchor_in_hook();
        }
        buffer.hand_over(writer, notes, &self.store);
        Ok(())
    }

    /// Whether nothing is locked. In the child of a fork, what the parent's other threads had locked stays so.
    pub(super) fn is_free(&self) -> bool {
        let buffers = try_lock(&self.buffers).map(|all| all.iter().all(|buffer| buffer.is_free()));
        buffers == Some(true)
            && try_lock(&self.store).is_some()
            && try_lock(&self.eviction).is_some()
            && try_lock(&self.live_tasks).is_some()
            && try_lock(&self.sums).is_some()
            && try_lock(&self.windows).is_some()
    }

    /// Enforces `max_events` after records were moved to the store.
    pub(crate) fn after_drain(&self) {
        match self.config.keep {
            Keep::First => self.end_if_full(),
            Keep::Last => self.evict_surplus(),
        }
    }

    /// The same in a hook, which leaves eviction to the background thread while that keeps up.
    pub(crate) fn after_drain_in_hook(&self) {
        match self.config.keep {
            Keep::First => self.end_if_full(),
            Keep::Last if !background::is_there() || self.is_far_beyond() => {
                self.evict_surplus_in_hook();
            }
            Keep::Last => {}
        }
    }

    /// Whether memory would grow without bound if nobody evicted now.
    fn is_far_beyond(&self) -> bool {
        let max_events = self.config.max_events as u64;
        let margin = (max_events / 16).max(2 * chunk_records(&self.config) as u64);
        lock(&self.store).exceeds_by(max_events, margin)
    }

    /// Evicts the oldest blocks while the newer ones alone hold `max_events`, less what is in islands. What they
    /// say about tasks that are still alive is applied to `live_tasks`.
    #[inline(never)]
    fn evict_surplus(&self) {
        let Some(mut eviction) = self.lock_eviction() else { return };
        let Some(mut live_tasks) = try_lock(&self.live_tasks) else { return };
        let Some(mut windows) = try_lock(&self.windows) else { return };
        if !self.stage(&mut eviction, windows.evictable_until()) && !eviction.is_behind() {
            return;
        }
        let recycle = |segment: Segment| lock(&self.store).recycle(segment.into_chunk());
        let limits = self.limits();
        let mut sums = lock(&self.sums);
        sums.expect_long_poll(|| self.long_poll_ticks());
        let dropped =
            eviction.look_through(limits, &mut live_tasks, &mut sums, &windows.all, recycle);
        windows.forget(eviction.done_until(), &mut live_tasks, &mut sums);
        self.dropped(dropped, &eviction);
    }

    /// The same in a hook: what is evicted is left to the background thread, unless there is none, or too much.
    #[inline(never)]
    fn evict_surplus_in_hook(&self) {
        let Some(mut eviction) = self.lock_eviction() else { return };
        let Some(mut live_tasks) = try_lock(&self.live_tasks) else { return };
        let Some(windows) = try_lock(&self.windows) else { return };
        self.stage(&mut eviction, None);
        // While a long poll goes on that thread keeps so many on purpose.
        let most = self.max_staged() + self.config.max_events as u64 / 8;
        if !background::is_there() || eviction.staged_events > most {
            // Each step by itself, as the stack of a hook is bounded.
            eviction.sort();
            let mut sums = lock(&self.sums);
            sums.expect_long_poll(|| self.long_poll_ticks());
            live_tasks.update(&eviction.staged, &windows.all, &mut sums);
            drop(sums);
            let recycle = |segment: Segment| lock(&self.store).recycle(segment.into_chunk());
            let dropped = eviction.give_up(recycle);
            self.dropped(dropped, &eviction);
        }
    }

    /// Usually there is nothing to evict, and what can't be done now is done by the next caller. A hook never waits
    /// for a snapshot. It waits for another thread that evicts only if that one has been preempted for so long
    /// that memory would grow without bound.
    fn lock_eviction(&self) -> Option<MutexGuard<'_, Eviction>> {
        try_lock(&self.eviction).or_else(|| {
            // The store's lock is released before waiting: the evicting thread needs it.
            self.is_far_beyond().then(|| lock(&self.eviction))
        })
    }

    fn dropped(&self, events: u64, eviction: &Eviction) {
        self.dropped_events.fetch_add(events, Ordering::Relaxed);
        self.dropped_until.store(eviction.done_until(), Ordering::Relaxed);
    }

    /// Moves what is old enough out of the store, and what is no later than `at_least`. Returns whether there was anything.
    #[inline(never)]
    fn stage(&self, eviction: &mut Eviction, at_least: Option<u64>) -> bool {
        let kept = self.max_stored(eviction);
        let until_ticks = lock(&self.store).evictable_until(kept);
        let Some(until_ticks) = until_ticks.max(at_least) else { return false };
        // In a loop of its own, as both need much stack.
        lock(&self.buffers).iter().for_each(|buffer| buffer.seal(&self.store));
        // Threads that seldom emit have older records in a chunk that isn't full. These are taken
        // first, as a buffer may be handed over to the store in between, as a block that is as old.
        let mut events = 0;
        for buffer in lock(&self.buffers).iter() {
            events += buffer.take_until(until_ticks, &mut eviction.staged);
        }
        let mut store = lock(&self.store);
        events += match at_least == Some(until_ticks) {
            true => store.drain_until(until_ticks, &mut eviction.staged),
            false => store.take_until(until_ticks, &mut eviction.staged),
        };
        drop(store);
        eviction.has_staged(events, until_ticks);
        true
    }

    /// How many events the store is to keep: what is in islands counts, too.
    pub(crate) fn max_stored(&self, eviction: &Eviction) -> u64 {
        (self.config.max_events as u64).saturating_sub(eviction.islands.events())
    }

    fn limits(&self) -> Limits {
        let rate = self.clock.rate();
        Limits {
            long_poll: rate.ticks(self.config.long_poll.max(SHORTEST_LONG_POLL)),
            around: rate.ticks(AROUND),
            staged_events: self.max_staged(),
        }
    }

    /// Longer polls are long, in ticks. Never inlined, as hooks evict, and the stack of a hook is bounded.
    #[inline(never)]
    pub(crate) fn long_poll_ticks(&self) -> u64 {
        self.clock.rate().ticks(self.config.long_poll)
    }

    /// How many events may wait until they are looked through.
    fn max_staged(&self) -> u64 {
        self.config.max_events as u64 / 2
    }

    /// Moves all records from the threads' buffers to the store.
    pub(crate) fn flush(&self) {
        let buffers = lock(&self.buffers).clone();
        for buffer in buffers {
            buffer.flush(&self.store);
        }
        self.after_drain();
    }

    /// The events that are not kept, if the store holds `stored_events`, and may hold `max_stored`.
    pub(crate) fn lost(&self, stored_events: u64, max_stored: u64) -> Lost {
        let refused: u64 = lock(&self.buffers).iter().map(|buffer| buffer.refused()).sum();
        let (refused_surplus, dropped_surplus) = self.surplus(stored_events, max_stored);
        Lost {
            refused_events: refused
                + refused_surplus
                + self.refused_at_drain.load(Ordering::Relaxed),
            dropped_events: self.dropped_events.load(Ordering::Relaxed) + dropped_surplus,
            reentrant_events: self.reentrant_events.load(Ordering::Relaxed),
        }
    }

    /// How many of `stored_events` exceed `max_stored`: refused, and dropped.
    fn surplus(&self, stored_events: u64, max_stored: u64) -> (u64, u64) {
        let surplus = stored_events.saturating_sub(max_stored);
        match self.config.keep {
            Keep::First => (surplus, 0),
            Keep::Last => (0, surplus),
        }
    }

    /// Called after a drain took the `stored_events` out of the store.
    pub(crate) fn note_drained(&self, stored_events: u64, max_stored: u64) {
        // Events that hooks refuse meanwhile are counted by the hooks.
        let (refused, dropped) = self.surplus(stored_events, max_stored);
        self.refused_at_drain.fetch_add(refused, Ordering::Relaxed);
        self.dropped_events.fetch_add(dropped, Ordering::Relaxed);
        self.resume_if_drained();
    }
}

/// How many records a chunk holds. The oldest records are evicted by the chunk, so up to a few
/// chunks are kept beyond `max_events`: chunks are small relative to `max_events`, but large enough
/// that handing one over costs less than filling it.
pub(super) fn chunk_records(config: &CollectorConfig) -> usize {
    // A model has few records.
    const MIN: usize = if cfg!(statemap_loom) { 2 } else { 64 };
    const EFFICIENT: usize = 1024;
    let most = (config.max_events / 512).max(EFFICIENT).min(config.max_events / 16);
    config.buffer_capacity.clamp(MIN, most.max(MIN))
}

/// How many empty chunks one thread is given ahead at most: enough for the time until the background thread comes
/// round again, and few relative to `max_events`.
pub(super) fn spare_chunks(config: &CollectorConfig) -> usize {
    (config.max_events / 8 / chunk_records(config)).clamp(1, 32)
}

/// How many empty chunks all threads together are given ahead at most, and how many they find by themselves between two
/// rounds of the background thread: so the memory is bounded, however many threads there are.
pub(super) fn chunks_in_all(config: &CollectorConfig) -> usize {
    const MIN: usize = 8;
    (config.max_events / 4 / chunk_records(config)).max(MIN)
}

/// How many events may be kept around the longest polls of the run, of those that are kept.
pub(super) fn island_events(config: &CollectorConfig) -> u64 {
    match config.keep {
        Keep::Last if config.max_events >= FEWEST_FOR_ISLANDS => config.max_events as u64 / 4,
        _ => 0,
    }
}
