//! The sources of wakes.

use std::fmt;

use crate::recorder::record::{self, ROOT};
use crate::trace::task_key::TaskKey;

/// The source of a wake by which a task became ready.
///
/// It is the first wake since the last poll began, or the spawn. It is only reported if it is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WokenBy {
    /// A poll of a task, or of a root future, in which the wake happened: in a function that it called, or in something
    /// that it polled within itself, as a `LocalSet` does. It may be the same task, or one of another runtime.
    Task(TaskKey),
    /// A worker of the runtime between two polls: a timer fired, a socket is ready, or a task yielded.
    Runtime,
    /// A closure that was passed to `spawn_blocking`, or its end.
    BlockingTask,
    /// A thread that isn't in a runtime.
    Thread,
}

impl WokenBy {
    pub(crate) fn from_record(by: record::WokenBy) -> Self {
        match by {
            record::WokenBy::Task(id) if id & ROOT != 0 => {
                Self::Task(TaskKey::Root((id & !ROOT) as u32))
            }
            record::WokenBy::Task(id) => Self::Task(TaskKey::Spawned(id)),
            record::WokenBy::Runtime => Self::Runtime,
            record::WokenBy::Blocking => Self::BlockingTask,
            record::WokenBy::Thread => Self::Thread,
        }
    }

    /// Packs the source into 48 bits; 0 if there is no room for the task's number.
    pub(crate) fn pack(self) -> u64 {
        let by = match self {
            Self::Task(TaskKey::Root(number)) => record::WokenBy::Task(ROOT | u64::from(number)),
            Self::Task(TaskKey::Spawned(id)) if id & ROOT != 0 => return 0,
            Self::Task(TaskKey::Spawned(id)) => record::WokenBy::Task(id),
            Self::Runtime => record::WokenBy::Runtime,
            Self::BlockingTask => record::WokenBy::Blocking,
            Self::Thread => record::WokenBy::Thread,
        };
        by.pack().unwrap_or(0)
    }

    /// Unpacks the result of [`pack`](Self::pack); `None` for 0.
    pub(crate) fn unpack(packed: u64) -> Option<Self> {
        record::WokenBy::unpack(packed).map(Self::from_record)
    }
}

impl fmt::Display for WokenBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task(task) => task.fmt(f),
            Self::Runtime => f.write_str("the runtime"),
            Self::BlockingTask => f.write_str("a blocking task"),
            Self::Thread => f.write_str("another thread"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_come_back() {
        for by in [
            WokenBy::Task(TaskKey::Root(0)),
            WokenBy::Task(TaskKey::Root(u32::MAX)),
            WokenBy::Task(TaskKey::Spawned(1)),
            WokenBy::Task(TaskKey::Spawned(1 << 40)),
            WokenBy::Runtime,
            WokenBy::BlockingTask,
            WokenBy::Thread,
        ] {
            assert_eq!(WokenBy::unpack(by.pack()), Some(by));
        }
        assert_eq!(WokenBy::unpack(0), None);
    }
}
