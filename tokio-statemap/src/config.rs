//! What to record, and how much of it.

use std::time::Duration;

use crate::error::Error;

/// What a [`Collector`](crate::Collector) records.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tokio_statemap::{CollectorConfig, Keep};
///
/// let config = CollectorConfig {
///     max_events: 100_000,
///     keep: Keep::First,
///     long_poll: Duration::from_millis(5),
///     ..CollectorConfig::default()
/// };
/// assert_eq!(config.buffer_capacity, 4096);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectorConfig {
    /// How many records each thread's buffer holds at most before it is handed to the store.
    /// Default: 4096, of which it holds 1953 (31 KiB) as long as `max_events` has its default, too. At
    /// most 16 777 216 (2^24).
    ///
    /// It holds no more than a 512th of `max_events` or 1024, whichever is more, and no more than a 16th
    /// of it; but never fewer than 64.
    pub buffer_capacity: usize,
    /// How many events are kept in all. Default: 1 000 000, which is 16 MB.
    ///
    /// With [`Keep::Last`] each task that lives takes 30 to 45 bytes besides, from when its spawn is
    /// dropped to its end: 45 MB at most for a million.
    pub max_events: usize,
    /// Which events are kept once there are more than `max_events`. Default: the last.
    pub keep: Keep,
    /// Whether tasks, workers or both are recorded. Default: both.
    pub trace_target: TraceTarget,
    /// Whether it is recorded where each task was spawned. Default: yes.
    pub include_spawn_location: bool,
    /// Whether it is recorded when tasks became ready. Default: yes.
    ///
    /// It makes Tokio read its own clock at each wake and each poll: 60 to 150 ns a poll. Without
    /// it a task that was woken and waits for a worker can't be told from one that waits for its
    /// wake-up. It needs this crate's feature `schedule-latency`, and does nothing without.
    pub schedule_latency: bool,
    /// From when on a poll is called long, in the report. Default: 1 ms.
    pub long_poll: Duration,
}

impl Default for CollectorConfig {
    fn default() -> Self {
        Self {
            buffer_capacity: 4096,
            max_events: 1_000_000,
            keep: Keep::Last,
            trace_target: TraceTarget::Both,
            include_spawn_location: true,
            schedule_latency: true,
            long_poll: Duration::from_millis(1),
        }
    }
}

impl CollectorConfig {
    /// Whether this build of Tokio and of this crate knows when a task became ready.
    pub(crate) const CAN_KNOW_READY: bool = cfg!(all(tokio_unstable, feature = "schedule-latency"));

    const LARGEST_BUFFER: usize = 1 << 24;

    /// Checks the values that have bounds.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for (field, value) in
            [("buffer_capacity", self.buffer_capacity), ("max_events", self.max_events)]
        {
            if value == 0 {
                return Err(Error::InvalidConfig {
                    field,
                    reason: "it is 0; at least 1 event is needed",
                });
            }
        }
        if self.buffer_capacity > Self::LARGEST_BUFFER {
            return Err(Error::InvalidConfig {
                field: "buffer_capacity",
                reason: "it is over 16777216 (2^24), and each thread has such a buffer",
            });
        }
        Ok(())
    }
}

/// Which events are kept once there are more than `max_events`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The first ones: at `max_events` recording stops, and what comes then is counted. Once they are
    /// drained ([`Collector::drain_events`](crate::Collector::drain_events)) it goes on.
    First,
    /// The last ones: the oldest are dropped (a flight recorder). Of each task that still lives it is
    /// remembered where it was spawned, and by whom.
    #[default]
    Last,
}

/// What is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceTarget {
    /// The tasks and their polls.
    Tasks,
    /// The workers and their parks.
    Workers,
    /// Both.
    #[default]
    Both,
    /// Neither: the hooks are there and record nothing.
    None,
}

impl TraceTarget {
    /// Whether tasks are recorded.
    pub fn tracks_tasks(self) -> bool {
        matches!(self, Self::Tasks | Self::Both)
    }

    /// Whether workers are recorded.
    pub fn tracks_workers(self) -> bool {
        matches!(self, Self::Workers | Self::Both)
    }
}
