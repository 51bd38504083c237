//! The events that were emitted but are not kept.

use std::fmt;

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
