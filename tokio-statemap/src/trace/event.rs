//! The public events.

use std::fmt;
use std::panic::Location;

use crate::recorder::capture::SourcePlace;
use crate::trace::task_key::TaskKey;
use crate::trace::woken_by::WokenBy;

/// An event recorded by a hook.
///
/// `time_ns` is in nanoseconds since the first [`Collector::start`](crate::Collector::start).
/// `thread` numbers the runtime's threads in the order in which they are first seen. `worker` is
/// `tokio::runtime::worker_index()`, and `None` on a thread that is no worker.
///
/// The root future passed to `block_on` has no id in Tokio: its task id is 0, [`Event::ROOT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A task was spawned.
    TaskSpawn {
        /// The task.
        task_id: u64,
        /// The time, in ns.
        time_ns: u64,
        /// The thread that spawned it.
        thread: u32,
        /// The spawn location; `None` with `spawn_location = false`.
        location: Option<SpawnLocation>,
    },
    /// A poll of a task started.
    TaskPollStart {
        /// The task.
        task_id: u64,
        /// The time, in ns.
        time_ns: u64,
        /// The thread that polls it.
        thread: u32,
        /// The worker that polls it.
        worker: Option<u32>,
        /// The time at which the task became ready, in ns; `None` without `schedule_latency`.
        ready_ns: Option<u64>,
        /// The source of that wake; `None` if that isn't known.
        woken_by: Option<WokenBy>,
    },
    /// A poll of a task ended.
    TaskPollEnd {
        /// The task.
        task_id: u64,
        /// The time, in ns.
        time_ns: u64,
        /// The thread that polled it.
        thread: u32,
        /// The worker that the poll started on.
        worker: Option<u32>,
    },
    /// A task terminated: it completed, panicked or was aborted.
    TaskTerminate {
        /// The task.
        task_id: u64,
        /// The time, in ns.
        time_ns: u64,
        /// The thread that it terminated on.
        thread: u32,
    },
    /// A thread of the runtime started, or a thread became a worker.
    WorkerStart {
        /// The time, in ns.
        time_ns: u64,
        /// The thread.
        thread: u32,
        /// The worker; `None` for a thread of the blocking pool.
        worker: Option<u32>,
    },
    /// A thread of the runtime stopped.
    WorkerStop {
        /// The time, in ns.
        time_ns: u64,
        /// The thread.
        thread: u32,
        /// The worker; `None` for a thread of the blocking pool.
        worker: Option<u32>,
    },
    /// A worker parked.
    WorkerPark {
        /// The time, in ns.
        time_ns: u64,
        /// The thread.
        thread: u32,
        /// The worker.
        worker: Option<u32>,
    },
    /// A worker was unparked.
    WorkerUnpark {
        /// The time, in ns.
        time_ns: u64,
        /// The thread.
        thread: u32,
        /// The worker.
        worker: Option<u32>,
    },
}

/// The source location where a task was spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpawnLocation {
    /// The file, as in [`Location::file`].
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl From<SourcePlace> for SpawnLocation {
    fn from(place: SourcePlace) -> Self {
        let SourcePlace { file, line, column } = place;
        Self { file, line, column }
    }
}

impl From<&'static Location<'static>> for SpawnLocation {
    fn from(location: &'static Location<'static>) -> Self {
        SourcePlace::from(location).into()
    }
}

impl fmt::Display for SpawnLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Reads a field that all variants have.
macro_rules! field_of_all {
    ($event:expr, $field:ident) => {
        match $event {
            Event::TaskSpawn { $field, .. }
            | Event::TaskPollStart { $field, .. }
            | Event::TaskPollEnd { $field, .. }
            | Event::TaskTerminate { $field, .. }
            | Event::WorkerStart { $field, .. }
            | Event::WorkerStop { $field, .. }
            | Event::WorkerPark { $field, .. }
            | Event::WorkerUnpark { $field, .. } => $field,
        }
    };
}

impl Event {
    /// The `task_id` of the root future, `main`. Tokio assigns it no id, and never assigns 0.
    ///
    /// If several threads are in `block_on` of one runtime at the same time, the other root futures
    /// count down from `u64::MAX`.
    pub const ROOT: u64 = TaskKey::ROOT_ID;

    /// Returns the time at which the event was recorded, in nanoseconds since the collector was
    /// first started.
    pub fn time_ns(&self) -> u64 {
        field_of_all!(*self, time_ns)
    }

    /// Returns the thread that the event was recorded on.
    pub fn thread(&self) -> u32 {
        field_of_all!(*self, thread)
    }
}
