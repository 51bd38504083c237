//! Where the rows of a section come from.

/// Rows, asked for one at a time while they are drawn. A row is told by its index.
pub(crate) trait Source: Sync {
    /// Appends the name of a row.
    fn name(&self, row: u32, to: &mut String);

    /// What else is said of a row.
    fn description(&self, _row: u32) -> Option<&str> {
        None
    }

    /// The row that this one comes from: the task that spawned it.
    fn parent(&self, _row: u32) -> Option<u32> {
        None
    }

    /// Whether it is a future of `block_on`, not a spawned task.
    fn is_root(&self, _row: u32) -> bool {
        false
    }

    /// The worker's index in its runtime, if the rows are workers.
    fn worker_index(&self, _row: u32) -> Option<u32> {
        None
    }

    /// Whether transitions say which worker of its run a poll starts on, if the rows are tasks.
    fn knows_workers(&self) -> bool {
        true
    }

    /// Calls `each` with the transitions of a row, at times that never go back and lie within the
    /// picture. There is at least one.
    fn walk(&self, row: u32, each: &mut dyn FnMut(Transition));
}

/// A row changes to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transition {
    /// When, in ns from the left edge.
    pub(crate) time_ns: u64,
    /// To which, as an index into the section's states.
    pub(crate) state: u32,
    /// Of a poll: the worker that it starts on.
    pub(crate) worker: Option<u32>,
    /// Of a poll: for how long it holds that worker if not to its end, in ns
    /// (`block_in_place` gave the worker to another thread).
    pub(crate) held_ns: Option<u64>,
    /// The tag, as an index into the section's tags.
    pub(crate) tag: Option<u32>,
}

impl Transition {
    pub(crate) fn new(time_ns: u64, state: u32) -> Self {
        Self { time_ns, state, worker: None, held_ns: None, tag: None }
    }
}
