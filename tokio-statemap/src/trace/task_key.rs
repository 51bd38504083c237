//! The keys of tasks.

use std::fmt;

/// Identifies a task: a spawned one, or a root future passed to `block_on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TaskKey {
    /// A root future, by its number: 0 is `main`, 1 is `main-2`, and so on. There is more than one
    /// only if several threads are in `block_on` of one runtime at the same time.
    Root(u32),
    /// A spawned task, by the number that `tokio::task::Id` displays.
    Spawned(u64),
}

impl TaskKey {
    /// The id that `main` has in events. Tokio assigns it none, and never assigns 0.
    pub(crate) const ROOT_ID: u64 = 0;

    /// Returns the key of the task with this `task_id` in an [`Event`](crate::Event).
    pub fn from_id(task_id: u64) -> Self {
        // Root futures other than `main` count down from the maximum, which no task id reaches.
        match u64::MAX - task_id {
            _ if task_id == Self::ROOT_ID => Self::Root(0),
            further if further < u64::from(u32::MAX) => Self::Root(further as u32 + 1),
            _ => Self::Spawned(task_id),
        }
    }
}

impl fmt::Display for TaskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(0) => f.write_str("main"),
            Self::Root(n) => write!(f, "main-{}", u64::from(*n) + 1),
            Self::Spawned(id) => write!(f, "task-{id}"),
        }
    }
}
