//! Keeps the store within `max_events`: with `keep = "first"` recording ends, with `keep = "last"` the oldest records
//! are evicted.

use std::time::Duration;

use crate::config::Keep;
use crate::recorder::kept::Kept;
use crate::recorder::kept::limits::{batch_events, chunk_records, chunks_in_all};
use crate::recorder::locks::{Held, lock, lock_unless, try_lock};
use crate::recorder::lost::Lost;
use crate::recorder::memory::eviction::{Eviction, Limits};
use crate::recorder::process;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::segment::{RecordWriter, Segment};

/// The time before and after one of the longest polls of the run that is pinned.
const AROUND: Duration = Duration::from_millis(20);

/// Nothing is pinned around shorter polls, whatever `long_poll` is.
const SHORTEST_LONG_POLL: Duration = Duration::from_micros(100);

impl Kept {
    /// Finds an empty chunk for a thread that was given none in time. It doesn't wait for the lock of the store, and
    /// doesn't prefault the chunk. Returns `None` if there is no background thread, or if threads found too many chunks
    /// since that last came round. Then the thread itself has to keep the store within its bounds.
    #[cold]
    #[inline(never)]
    pub(crate) fn find_writer(&self) -> Option<RecordWriter> {
        if !process::is_there() || !self.since_collected.may_find(chunks_in_all(&self.config)) {
            return None;
        }
        match try_lock(&self.store) {
            Some(mut store) => Some(store.take_writer()),
            None => RecordWriter::allocate(1, chunk_records(&self.config)).next(),
        }
    }

    /// Moves the full chunk of `writer` to the store, and returns the chunk to fill next. This is for a thread that has
    /// no empty chunk, or of which too many full ones wait, because the background thread doesn't keep up or isn't
    /// there. Gives the full chunk back in the child of a fork in which that can't be done. Must only be called by the
    /// thread of `buffer`.
    #[cold]
    #[inline(never)]
    pub(crate) fn hand_over(
        &self,
        buffer: &Buffer,
        writer: RecordWriter,
        notes: usize,
    ) -> Result<RecordWriter, RecordWriter> {
        if process::is_forked() && !self.is_free() {
            return Err(writer);
        }
        if !process::is_there() {
            self.add_anchor_in_hook();
        }
        buffer.hand_over(writer, notes, &self.store);
        // Done first, so that the chunk of an evicted block can be filled next while it is in the cache.
        self.after_drain_in_hook();
        Ok(buffer.next_writer(&self.store))
    }

    /// Enforces `max_events` after records were moved to the store.
    pub(crate) fn after_drain(&self) {
        match self.config.keep {
            Keep::First => self.end_if_full(),
            Keep::Last => self.evict_surplus(),
        }
    }

    /// Enforces `max_events` in a hook, which leaves eviction to the background thread while that keeps up.
    pub(super) fn after_drain_in_hook(&self) {
        match self.config.keep {
            Keep::First => self.end_if_full(),
            Keep::Last if !process::is_there() || self.is_far_beyond() => {
                self.evict_surplus_in_hook();
            }
            Keep::Last => {}
        }
    }

    /// Returns whether memory would grow without bound if nobody evicted now.
    fn is_far_beyond(&self) -> bool {
        let max_events = self.config.max_events as u64;
        let margin = (max_events / 16).max(2 * chunk_records(&self.config) as u64);
        lock(&self.store).exceeds_by(max_events, margin)
    }

    /// Evicts the oldest blocks while the newer ones alone hold `max_events`, less what is pinned. What the evicted
    /// blocks say about live tasks is applied to the memory.
    #[inline(never)]
    fn evict_surplus(&self) {
        let Some(mut eviction) = self.lock_eviction() else { return };
        let Some(mut memory) = try_lock(&self.memory) else { return };
        let Some(mut windows) = try_lock(&self.windows) else { return };
        let at_least = windows.evictable_until();
        // Few at a time would each cost as much as the code and the tables that the processor has to fetch for it.
        let kept = self.max_stored(&eviction);
        let is_much = lock(&self.store).exceeds_by(kept, batch_events(&self.config));
        if !is_much && at_least.is_none() && !eviction.is_behind() {
            return;
        }
        if !self.stage(&mut eviction, at_least) && !eviction.is_behind() {
            return;
        }
        memory.sums.expect_long_poll(&|| self.long_poll_ticks());
        let recycle = &mut |segment| self.recycle(segment);
        let limits = self.limits(self.max_staged());
        let dropped = eviction.look_through(limits, &mut memory, &windows.all, recycle);
        memory.forget_windows(eviction.done_until(), &mut windows);
        self.count_dropped(dropped, &eviction);
    }

    /// Evicts in a hook. What is evicted is left to the background thread, unless there is none, or too much waits.
    #[inline(never)]
    fn evict_surplus_in_hook(&self) {
        let Some(mut eviction) = self.lock_eviction() else { return };
        let Some(mut memory) = try_lock(&self.memory) else { return };
        let Some(windows) = try_lock(&self.windows) else { return };
        self.stage(&mut eviction, None);
        // While a long poll goes on, the background thread keeps this many on purpose.
        let most = self.max_staged() + self.config.max_events as u64 / 8;
        if !process::is_there() || eviction.staged_events > most {
            // Each step is a function of its own, as the stack of a hook is bounded.
            eviction.sort();
            memory.sums.expect_long_poll(&|| self.long_poll_ticks());
            memory.update(&eviction.staged, &windows.all);
            let dropped = eviction.give_up(&mut |segment| self.recycle(segment));
            self.count_dropped(dropped, &eviction);
        }
    }

    fn recycle(&self, segment: Segment) {
        lock(&self.store).recycle(segment.into_chunk());
    }

    /// Locks the eviction if nobody else does. Usually there is nothing to evict, and what can't be done now is done by
    /// the next caller. A hook never waits for a capture. It waits for another thread that evicts only if that one has
    /// been preempted for so long that memory would grow without bound.
    fn lock_eviction(&self) -> Option<Held<'_, Eviction>> {
        // The store's lock is released before waiting: the evicting thread needs it.
        lock_unless(&self.eviction, || !self.is_far_beyond())
    }

    fn count_dropped(&self, events: u64, eviction: &Eviction) {
        self.lost_so_far.count_dropped(events, eviction.done_until());
    }

    /// Returns a test of whether the records of a time, in ticks, are dropped and not pinned.
    pub(crate) fn is_dropped(&self) -> impl Fn(u64) -> bool {
        let dropped_until = self.lost_so_far.dropped_until();
        move |ticks| {
            ticks < dropped_until
                // While something is evicted, nothing counts as dropped.
                && try_lock(&self.eviction).is_some_and(|eviction| !eviction.pinned.holds(ticks))
        }
    }

    /// Moves what is old enough out of the store, and what is no later than `at_least`. Returns whether there was
    /// anything.
    #[inline(never)]
    fn stage(&self, eviction: &mut Eviction, at_least: Option<u64>) -> bool {
        let kept = self.max_stored(eviction);
        let until_ticks = lock(&self.store).evictable_until(kept);
        let Some(until_ticks) = until_ticks.max(at_least) else { return false };
        // This loop is separate, as both need much stack.
        for buffer in self.buffers.lock().iter() {
            buffer.seal(&self.store);
        }
        // Threads that seldom emit have older records in a chunk that isn't full. These are taken
        // first, as a buffer may be handed over to the store in between, as a block that is as old.
        let mut events = 0;
        for buffer in self.buffers.lock().iter() {
            events += buffer.take_until(until_ticks, &mut eviction.staged, &self.store);
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

    /// Returns how many events the store is to keep. Pinned events count, too.
    pub(super) fn max_stored(&self, eviction: &Eviction) -> u64 {
        (self.config.max_events as u64).saturating_sub(eviction.pinned.events())
    }

    /// Returns the limits of the search for long polls among evicted records. At most `staged_events` events may wait
    /// for it.
    pub(crate) fn limits(&self, staged_events: u64) -> Limits {
        let rate = self.clock.rate();
        Limits {
            long_poll: rate.ticks(self.config.long_poll.max(SHORTEST_LONG_POLL)),
            around: rate.ticks(AROUND),
            staged_events,
        }
    }

    /// Returns the length in ticks from which on a poll is long. Never inlined, as hooks evict, and the stack of a hook
    /// is bounded.
    #[inline(never)]
    pub(super) fn long_poll_ticks(&self) -> u64 {
        self.clock.rate().ticks(self.config.long_poll)
    }

    /// Returns how many events may wait to be looked through.
    fn max_staged(&self) -> u64 {
        self.config.max_events as u64 / 2
    }

    /// Moves all records from the threads' buffers to the store.
    pub(crate) fn flush(&self) {
        for buffer in self.buffers.all() {
            buffer.flush(&self.store);
        }
        self.after_drain();
    }

    /// Returns the events that were emitted up to now and are not kept.
    pub(crate) fn lost_now(&self) -> Lost {
        self.flush();
        // While this is locked, nothing is evicted. And nobody waits for a buffer while holding the store.
        let _memory = lock(&self.memory);
        let (staged, max_stored) = {
            let eviction = lock(&self.eviction);
            (eviction.staged_events, self.max_stored(&eviction))
        };
        let stored_events = lock(&self.store).events() + staged;
        self.lost(stored_events, max_stored)
    }

    /// Returns the events that are not kept, if the store holds `stored_events`, and may hold `max_stored`.
    pub(crate) fn lost(&self, stored_events: u64, max_stored: u64) -> Lost {
        let (refused, dropped) = self.surplus(stored_events, max_stored);
        self.lost_so_far.with(self.buffers.refused() + refused, dropped)
    }

    /// Returns how many of `stored_events` exceed `max_stored`, as refused and as dropped events.
    fn surplus(&self, stored_events: u64, max_stored: u64) -> (u64, u64) {
        let surplus = stored_events.saturating_sub(max_stored);
        match self.config.keep {
            Keep::First => (surplus, 0),
            Keep::Last => (0, surplus),
        }
    }

    /// Accounts for a drain that took the `stored_events` out of the store.
    pub(super) fn note_drained(&self, stored_events: u64, max_stored: u64) {
        // Events that hooks refuse meanwhile are counted by the hooks.
        let (refused, dropped) = self.surplus(stored_events, max_stored);
        self.lost_so_far.count_drained(refused, dropped);
        self.resume_if_drained();
    }
}
