//! Stands in where the wakers of tasks aren't seen.

/// Returns whether the clones of tasks' wakers are seen.
pub(crate) fn are_watched() -> bool {
    false
}

/// The wakers of tasks, for one recorder.
#[derive(Debug, Default)]
pub(crate) struct Wakers {}

impl Wakers {
    pub(crate) fn watch(&self) {}

    pub(crate) fn leave(&self) {}

    pub(crate) fn take_ready_times(&self) -> bool {
        false
    }

    pub(crate) fn miss_ready_times(&self) -> bool {
        false
    }

    pub(crate) fn are_seen(&self) -> bool {
        false
    }
}
