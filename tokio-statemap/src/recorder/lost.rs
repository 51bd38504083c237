//! The events that were emitted but are not kept.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of events that were emitted but are not kept, by cause.
///
/// Every event that a hook sees while recording is on is either kept or counted here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Events refused because `max_events` were kept already (`keep = "first"`).
    pub refused_events: u64,
    /// Events dropped in favour of newer ones, because more than `max_events` were recorded (`keep
    /// = "last"`). A flight recorder does this by design; what the dropped events say about tasks
    /// that are still alive is kept.
    pub dropped_events: u64,
    /// Events emitted from within one of this crate's hooks on the same thread, for example by an
    /// allocator that spawns.
    pub reentrant_events: u64,
}

impl Lost {
    /// The cause shown for dropped events.
    pub(crate) const OLDEST_DROPPED: &'static str = "max_events, oldest dropped";

    /// Returns the sum over all causes.
    pub fn total(&self) -> u64 {
        self.refused_events
            .saturating_add(self.dropped_events)
            .saturating_add(self.reentrant_events)
    }
}

/// The events of one recorder that are not kept, counted as they go. Those that hooks refuse are counted by threads.
#[derive(Debug, Default)]
pub(crate) struct LostSoFar {
    dropped_events: AtomicU64,
    /// The time before which all events were dropped or are pinned, in ticks.
    dropped_until: AtomicU64,
    /// Events beyond `max_events` that a drain found, with `keep = "first"`.
    refused_at_drain: AtomicU64,
    reentrant_events: AtomicU64,
}

impl LostSoFar {
    /// Counts events that were evicted. All up to `until` are dropped or pinned.
    pub(crate) fn count_dropped(&self, events: u64, until: u64) {
        self.dropped_events.fetch_add(events, Ordering::Relaxed);
        self.dropped_until.store(until, Ordering::Relaxed);
    }

    /// Counts the events that a drain took and that were beyond `max_events`.
    pub(crate) fn count_drained(&self, refused: u64, dropped: u64) {
        self.refused_at_drain.fetch_add(refused, Ordering::Relaxed);
        self.dropped_events.fetch_add(dropped, Ordering::Relaxed);
    }

    /// Counts an event that a hook emitted while another hook ran on its thread.
    pub(crate) fn count_reentrant(&self) {
        self.reentrant_events.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn dropped_until(&self) -> u64 {
        self.dropped_until.load(Ordering::Relaxed)
    }

    /// Returns how many events were refused because more than `max_events` had been kept when they were drained. A box
    /// has them.
    #[cfg(has_black_box)]
    pub(crate) fn refused_at_drain(&self) -> u64 {
        self.refused_at_drain.load(Ordering::Relaxed)
    }

    /// Returns all that are lost, with those that are `refused` and `dropped` beside what is counted here.
    pub(crate) fn with(&self, refused: u64, dropped: u64) -> Lost {
        Lost {
            refused_events: refused + self.refused_at_drain.load(Ordering::Relaxed),
            dropped_events: dropped + self.dropped_events.load(Ordering::Relaxed),
            reentrant_events: self.reentrant_events.load(Ordering::Relaxed),
        }
    }
}

impl fmt::Display for Lost {
    /// Writes `0 events lost`, or for example `12 events lost: max_events`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        let plural = if total == 1 { "" } else { "s" };
        write!(f, "{total} event{plural} lost")?;
        let causes = [
            (self.refused_events, "max_events"),
            (self.dropped_events, Self::OLDEST_DROPPED),
            (self.reentrant_events, "emitted from within a hook"),
        ];
        let mut separator = ": ";
        for (count, cause) in causes {
            if count > 0 {
                write!(f, "{separator}{cause}")?;
                separator = "; ";
            }
        }
        Ok(())
    }
}
