//! The account of the events that are not there.

use std::fmt;

/// How many events were emitted but are not kept, by cause.
///
/// Every event that a hook saw while recording was on is either kept or counted here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Refused, as `max_events` were there already (`keep = "first"`).
    pub refused_events: u64,
    /// Dropped for newer ones, as more than `max_events` came (`keep = "last"`). This is what a
    /// flight recorder does by design; what they said about tasks that still live is kept.
    pub dropped_events: u64,
    /// Emitted from within a hook of ours on the same thread, say by an allocator that spawns.
    pub reentrant_events: u64,
}

impl Lost {
    /// How it is said that events were dropped for newer ones.
    pub(crate) const OLDEST_DROPPED: &'static str = "max_events, oldest dropped";

    /// The sum over all causes.
    pub fn total(&self) -> u64 {
        self.refused_events
            .saturating_add(self.dropped_events)
            .saturating_add(self.reentrant_events)
    }
}

impl fmt::Display for Lost {
    /// `0 events lost`, or say `12 events lost: max_events`.
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
