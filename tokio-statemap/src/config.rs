//! The configuration of a collector.

use std::time::Duration;

pub(crate) use crate::choices::{BlackBox, Keep, TraceTarget};
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
    /// The maximum number of records in a thread's buffer before it is handed to the store.
    /// Default: 4096, which is limited to 1953 (31 KiB) while `max_events` has its default.
    ///
    /// A buffer holds at most a 512th of `max_events` or 1024 records, whichever is more, and at
    /// most a 16th of `max_events`, but always at least 64. The value must be from 1 to 16 777 216
    /// (2^24).
    pub buffer_capacity: usize,
    /// The maximum number of events kept in all, at least 1. Default: 1 000 000, which take 16 MB, or 24 MB if it
    /// is known who woke the tasks.
    ///
    /// With [`Keep::Last`] each live task takes another 40 to 60 bytes from when its spawn is dropped
    /// until it terminates: at most 60 MB for a million tasks.
    pub max_events: usize,
    /// The events to keep once there are more than `max_events`. Default: the last.
    pub keep: Keep,
    /// The kinds of entities to record: tasks, workers or both. Default: both.
    pub trace_target: TraceTarget,
    /// Enables recording the spawn locations of tasks. Default: `true`.
    pub include_spawn_location: bool,
    /// Enables recording the times at which tasks become ready, and who woke them. Default: `true`.
    ///
    /// If the wakers of tasks are seen ([`wakes`](Self::wakes)), these are the times of the wakes. Otherwise this makes
    /// Tokio read its own clock at each wake and each poll, which costs 60 to 150 ns per poll. Without it, a task that
    /// was woken and waits for a worker looks like one that waits to be woken. It has no effect without this crate's
    /// feature `schedule-latency`.
    pub schedule_latency: bool,
    /// The minimum length of a poll that is called long. Default: 1 ms.
    pub long_poll: Duration,
    /// Enables sampling of long polls: their stacks, and their times on and off the processor.
    /// Default: `true`.
    ///
    /// It has no effect without this crate's feature `stacks`, or elsewhere than on Linux on x86-64
    /// or aarch64. A thread of this crate checks the polling threads every 5 ms, or less often while the program
    /// uses all processors, and interrupts the busy ones for 1 to 10 µs.
    pub stacks: bool,
    /// Enables recording where all tasks wait, by the clones of their wakers, and when they are woken. Default: `true`.
    ///
    /// While anything is recorded, and for a moment when hooks are registered, functions of this crate stand in for
    /// three of Tokio's. It has no effect without this crate's feature `wakes`, or elsewhere than on Linux on x86-64 or
    /// aarch64. A wait takes 30 to 50 ns longer.
    pub wakes: bool,
    /// Keeps what is recorded in a file that survives the process. Default: no.
    ///
    /// It has no effect without this crate's feature `black-box`, or elsewhere than on Linux on x86-64 or aarch64. The
    /// files take up to 24 bytes for each of `max_events`, and more if very many tasks live.
    pub black_box: BlackBox,
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
            wakes: true,
            black_box: BlackBox::Off,
        }
    }
}

impl CollectorConfig {
    /// `true` if this build of Tokio and of this crate can record when a task becomes ready.
    const CAN_KNOW_READY: bool = cfg!(all(tokio_unstable, feature = "schedule-latency"));

    /// Returns whether the times at which tasks become ready are recorded.
    pub(crate) fn knows_ready(&self) -> bool {
        self.trace_target.tracks_tasks() && self.schedule_latency && Self::CAN_KNOW_READY
    }

    /// Returns whether the wakers of root futures show when these become ready.
    pub(crate) fn knows_wakes_of_roots(&self) -> bool {
        self.wakes && self.knows_ready()
    }

    const LARGEST_BUFFER: usize = 1 << 24;

    /// Checks the values that have limits.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for (field, value) in
            [("buffer_capacity", self.buffer_capacity), ("max_events", self.max_events)]
        {
            if value == 0 {
                return Err(Error::InvalidConfig { field, reason: "it must be at least 1".into() });
            }
        }
        if self.buffer_capacity > Self::LARGEST_BUFFER {
            return Err(Error::InvalidConfig {
                field: "buffer_capacity",
                reason: "it must be at most 16777216 (2^24), as each thread has such a buffer"
                    .into(),
            });
        }
        Ok(())
    }
}
