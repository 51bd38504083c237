//! The configuration of a collector.

use std::time::Duration;

use crate::error::Error;

/// The configuration of a [`Collector`](crate::Collector).
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
    /// Default: 4096, which is limited to 1953 (31 KiB) while `max_events` has its default.
    ///
    /// A buffer holds at most a 512th of `max_events` or 1024 records, whichever is more, and at
    /// most a 16th of `max_events`; but always at least 64. The value must be at most 16 777 216
    /// (2^24).
    pub buffer_capacity: usize,
    /// How many events are kept in all. Default: 1 000 000, which take 16 MB.
    ///
    /// With [`Keep::Last`] each live task takes 30 to 45 bytes more from when its spawn is dropped
    /// until it terminates: 45 MB at most for a million.
    pub max_events: usize,
    /// Which events are kept once there are more than `max_events`. Default: the last.
    pub keep: Keep,
    /// Whether tasks, workers or both are recorded. Default: both.
    pub trace_target: TraceTarget,
    /// Whether spawn locations are recorded. Default: yes.
    pub include_spawn_location: bool,
    /// Whether the time at which a task becomes ready is recorded. Default: yes.
    ///
    /// This makes Tokio read its own clock at each wake and each poll, which costs 60 to 150 ns per
    /// poll. Without it, a task that was woken and waits for a worker can't be told from one that
    /// waits to be woken. It needs this crate's feature `schedule-latency`, and has no effect
    /// without it.
    pub schedule_latency: bool,
    /// The length from which on a poll is called long. Default: 1 ms.
    pub long_poll: Duration,
    /// Whether long polls are watched, so that what they did is known: their stacks, and their times on
    /// and off the processor. Default: yes.
    ///
    /// It needs this crate's feature `stacks`, Linux, and x86-64 or aarch64; elsewhere it has no effect.
    /// A thread of this crate's looks at the threads that poll every 5 ms and interrupts those that work,
    /// for some 1 to 10 µs.
    pub stacks: bool,
    /// Experimental: whether it is noted where tasks are in memory, so that [`Collector::trees`] can read from
    /// there what they await. Default: yes.
    ///
    /// It needs this crate's feature `dwarf` and full debug information (`debug = "full"` in the profile), on
    /// Linux on x86-64 or aarch64; elsewhere it has no effect. A spawn takes 2 to 20 µs more.
    ///
    /// [`Collector::trees`]: crate::Collector::trees
    pub dwarf: bool,
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
            stacks: true,
            dwarf: true,
        }
    }
}

impl CollectorConfig {
    /// Whether this build of Tokio and of this crate can tell when a task became ready.
    pub(crate) const CAN_KNOW_READY: bool = cfg!(all(tokio_unstable, feature = "schedule-latency"));

    const LARGEST_BUFFER: usize = 1 << 24;

    /// Checks the values that have limits.
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
    /// The first ones: at `max_events` recording ends, and further events are only counted. It
    /// resumes when they are drained with
    /// [`Collector::drain_events`](crate::Collector::drain_events).
    First,
    /// The last ones: the oldest events are dropped, as in a flight recorder. The spawn location
    /// and the parent of each task that is still alive are kept.
    ///
    /// So is what was around the longest polls of the run that took `long_poll` or more on a worker, of all
    /// threads: up to 16 of them, four at most of one spawn location, with 20 ms before and after where there is
    /// room, or only around its beginning and its end. It takes at most a quarter of `max_events`, and nothing if these are fewer than 16 384.
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
    /// Neither: no hook records anything.
    None,
}

impl TraceTarget {
    /// Returns `true` if tasks are recorded.
    pub fn tracks_tasks(self) -> bool {
        matches!(self, Self::Tasks | Self::Both)
    }

    /// Returns `true` if workers are recorded.
    pub fn tracks_workers(self) -> bool {
        matches!(self, Self::Workers | Self::Both)
    }
}
