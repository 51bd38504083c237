//! The public events.

use std::fmt;
use std::panic::Location;

use crate::recorder::record::Kind;

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
        /// When.
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
        /// When.
        time_ns: u64,
        /// The thread that polls it.
        thread: u32,
        /// The worker that polls it.
        worker: Option<u32>,
        /// When the task became ready; `None` without `schedule_latency`.
        ready_ns: Option<u64>,
    },
    /// A poll of a task ended.
    TaskPollEnd {
        /// The task.
        task_id: u64,
        /// When.
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
        /// When.
        time_ns: u64,
        /// The thread that it terminated on.
        thread: u32,
    },
    /// A thread of the runtime started, or a thread became a worker.
    WorkerStart {
        /// When.
        time_ns: u64,
        /// The thread.
        thread: u32,
        /// The worker; `None` for a thread of the blocking pool.
        worker: Option<u32>,
    },
    /// A thread of the runtime stopped.
    WorkerStop {
        /// When.
        time_ns: u64,
        /// The thread.
        thread: u32,
        /// The worker; `None` for a thread of the blocking pool.
        worker: Option<u32>,
    },
    /// A worker parked.
    WorkerPark {
        /// When.
        time_ns: u64,
        /// The thread.
        thread: u32,
        /// The worker.
        worker: Option<u32>,
    },
    /// A worker was unparked.
    WorkerUnpark {
        /// When.
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

impl From<&'static Location<'static>> for SpawnLocation {
    fn from(location: &'static Location<'static>) -> Self {
        Self { file: location.file(), line: location.line(), column: location.column() }
    }
}

impl fmt::Display for SpawnLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A field that all variants have.
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
    pub const ROOT: u64 = 0;

    /// When the event was recorded, in nanoseconds since the collector was first started.
    pub fn time_ns(&self) -> u64 {
        field_of_all!(*self, time_ns)
    }

    /// The thread that the event was recorded on.
    pub fn thread(&self) -> u32 {
        field_of_all!(*self, thread)
    }

    /// The event that a record of `kind` is by itself, if it is one: spawns and the starts of polls
    /// hold more than `seen` does, and notes are no events.
    #[inline]
    pub(crate) fn of_kind(kind: Kind, seen: Seen) -> Option<Self> {
        let Seen { task_id, time_ns, thread, worker } = seen;
        Some(match kind {
            Kind::PollEnd => Self::TaskPollEnd { task_id, time_ns, thread, worker },
            Kind::Terminate => Self::TaskTerminate { task_id, time_ns, thread },
            Kind::ThreadStart => Self::WorkerStart { time_ns, thread, worker },
            Kind::ThreadStop => Self::WorkerStop { time_ns, thread, worker },
            Kind::Park => Self::WorkerPark { time_ns, thread, worker },
            Kind::Unpark => Self::WorkerUnpark { time_ns, thread, worker },
            _ => return None,
        })
    }
}

/// What all records hold: the task if there is one, the time, the thread and its worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) task_id: u64,
    pub(crate) time_ns: u64,
    pub(crate) thread: u32,
    pub(crate) worker: Option<u32>,
}
