//! How what is kept stays within its bounds, and what becomes of the rest.

use std::sync::atomic::Ordering;

use crate::config::{CollectorConfig, Keep};
use crate::recorder::Recorder;
use crate::recorder::lost::Lost;
use crate::recorder::store::segment::Segment;
use crate::util::sync::{lock, try_lock};

impl Recorder {
    /// Sees to the bounds after something came into the store.
    pub(crate) fn after_drain(&self) {
        match self.config.keep {
            Keep::First => self.end_if_full(),
            Keep::Last => self.drop_surplus(),
        }
    }

    /// Drops the oldest blocks while the newer ones alone hold `max_events`. What they said about
    /// tasks that still live goes to the live_tasks.
    fn drop_surplus(&self) {
        let max_events = self.config.max_events as u64;
        // Most times there is nothing to do, and whoever comes next does what this one can't: a
        // hook doesn't wait for a snapshot, and for another that drops only if that one has been
        // interrupted for so long that memory would grow without bound.
        let dropping = try_lock(&self.dropping).or_else(|| {
            let much = (max_events / 256).max(2 * chunk_records(&self.config) as u64);
            // The store's lock is not held any more when it waits: who drops needs it.
            let is_far_above = lock(&self.store).is_far_above(max_events, much);
            is_far_above.then(|| lock(&self.dropping))
        });
        let Some(mut taken) = dropping else { return };
        let Some(mut live_tasks) = try_lock(&self.live_tasks) else { return };
        let Some(windows) = try_lock(&self.windows) else { return };
        let Some(until_ticks) = lock(&self.store).surplus(max_events) else { return };
        // Threads that seldom emit have older records that fill no block yet. They come first, as
        // their buffers may just be handed over, as blocks that are as old.
        let mut events = 0;
        for buffer in lock(&self.buffers).iter() {
            events += buffer.take_until(until_ticks, &mut taken);
        }
        events += lock(&self.store).take_until(until_ticks, &mut taken);
        Segment::sort(&mut taken);
        live_tasks.absorb(&taken, &windows.all);
        self.dropped_events.fetch_add(events, Ordering::Relaxed);
        let mut store = lock(&self.store);
        taken.drain(..).for_each(|segment| store.recycle(segment.into_chunk()));
    }

    /// The address of the records that are dropped next, if any are.
    pub(crate) fn dropped_next(&self) -> Option<usize> {
        match self.config.keep {
            Keep::First => None,
            Keep::Last => lock(&self.store).oldest_address(),
        }
    }

    /// Moves all that is in buffers to the store.
    pub(crate) fn flush(&self) {
        let buffers = lock(&self.buffers).clone();
        for buffer in buffers {
            buffer.flush(&self.store);
        }
        self.after_drain();
    }

    /// What is not kept, if the store holds `stored_events`.
    pub(crate) fn lost(&self, stored_events: u64) -> Lost {
        let refused: u64 = lock(&self.buffers).iter().map(|buffer| buffer.refused()).sum();
        let (refused_surplus, dropped_surplus) = self.surplus(stored_events);
        Lost {
            refused_events: refused
                + refused_surplus
                + self.refused_at_drain.load(Ordering::Relaxed),
            dropped_events: self.dropped_events.load(Ordering::Relaxed) + dropped_surplus,
            reentrant_events: self.reentrant_events.load(Ordering::Relaxed),
        }
    }

    /// Of so many events that the store holds, those that are too many: refused, and dropped.
    fn surplus(&self, stored_events: u64) -> (u64, u64) {
        let surplus = stored_events.saturating_sub(self.config.max_events as u64);
        match self.config.keep {
            Keep::First => (surplus, 0),
            Keep::Last => (0, surplus),
        }
    }

    /// Takes note that the `stored_events` that were kept up to now were given away.
    pub(crate) fn was_drained(&self, stored_events: u64) {
        // What hooks refuse meanwhile is counted where they do, and not looked at here.
        let (refused, dropped) = self.surplus(stored_events);
        self.refused_at_drain.fetch_add(refused, Ordering::Relaxed);
        self.dropped_events.fetch_add(dropped, Ordering::Relaxed);
        self.go_on_if_drained();
    }
}

/// How many records a chunk holds. What is kept beyond `max_events` are some chunks, as the oldest
/// are dropped chunk by chunk: so they are small beside `max_events`, but not so small that to hand
/// one over would cost more than to fill it.
pub(super) fn chunk_records(config: &CollectorConfig) -> usize {
    const LEAST: usize = 64;
    const WORTHWHILE: usize = 1024;
    let most = (config.max_events / 512).max(WORTHWHILE).min(config.max_events / 16);
    config.buffer_capacity.clamp(LEAST, most.max(LEAST))
}
