//! The source of the rows of a section.

/// Rows, which are read one at a time while they are drawn. A row is identified by its index.
pub(crate) trait Source: Sync {
    /// Appends the name of a row.
    fn name(&self, row: u32, to: &mut String);

    /// Returns the description of a row.
    fn description(&self, _row: u32) -> Option<&str> {
        None
    }

    /// Returns the row of the task that spawned this one.
    fn parent(&self, _row: u32) -> Option<u32> {
        None
    }

    /// Returns whether the row is a future of `block_on`, not a spawned task.
    fn is_root(&self, _row: u32) -> bool {
        false
    }

    /// Returns the worker's index in its runtime, if the rows are workers.
    fn worker_index(&self, _row: u32) -> Option<u32> {
        None
    }

    /// Returns whether transitions say which worker a poll starts on, if the rows are tasks.
    fn knows_workers(&self) -> bool {
        true
    }

    /// Returns whether transitions say who woke the task of a poll.
    fn knows_wakers(&self) -> bool {
        false
    }

    /// Calls `each` with the transitions of a row, at times that never go back and lie within the
    /// picture. There is at least one.
    fn walk(&self, row: u32, each: &mut dyn FnMut(Transition));
}

/// A row changes to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transition {
    /// The time, in ns from the left edge.
    pub(crate) time_ns: u64,
    /// The state: an index into those of the section.
    pub(crate) state: u32,
    /// The worker that a poll starts on.
    pub(crate) worker: Option<u32>,
    /// The time that the poll holds its worker, in ns, if that isn't to its end: `block_in_place` moved the worker to
    /// another thread.
    pub(crate) held_ns: Option<u64>,
    /// The tag: an index into those of the section.
    pub(crate) tag: Option<u32>,
    /// The task that woke this one for the poll that starts.
    pub(crate) woken_by: Option<Waker>,
}

/// The source of a task's wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waker {
    /// The task of this row.
    Row(u32),
    /// A task that has no row.
    NotShown,
    Runtime,
    BlockingTask,
    Thread,
}

impl Transition {
    pub(crate) fn new(time_ns: u64, state: u32) -> Self {
        Self { time_ns, state, worker: None, held_ns: None, tag: None, woken_by: None }
    }
}
