//! Where the wakers of tasks aren't seen.

use crate::sys::task_waker::Unseen;

/// What a recorder sees of the wakers of tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(dead_code, reason = "as where they are seen")]
pub(crate) enum Seen {
    /// Nothing so far, or nothing is wanted.
    #[default]
    Nothing,
    /// All clones, while it records.
    Clones,
    /// Nothing, for a reason.
    Not(Unseen),
}

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

    pub(crate) fn seen(&self) -> Seen {
        Seen::Not(Unseen::Here)
    }
}
