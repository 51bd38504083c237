//! A task of whose wakers one is called.

use std::marker::PhantomData;

use super::address::TaskAddress;
use super::{ids, refs};

/// A task of whose wakers one is called: its header is there during the call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CalledTask<'a> {
    task: *const (),
    lives: PhantomData<&'a ()>,
}

impl CalledTask<'_> {
    /// # Safety
    ///
    /// `task` is the data of a waker of a task of Tokio's, and the waker lives as long as this.
    #[inline]
    pub(super) unsafe fn new(task: *const ()) -> Self {
        Self { task, lives: PhantomData }
    }

    /// Returns the address of the task's header, which tells tasks that live apart.
    #[inline]
    pub(crate) fn header(self) -> usize {
        self.task.addr()
    }

    /// Returns the id of the task; `None` if it isn't known where ids are.
    #[inline]
    pub(crate) fn id(self) -> Option<u64> {
        // SAFETY: the task has a waker. Test: `recorder::chains::wakers::tests::wakes_are_seen_with_the_tasks_id`.
        unsafe { ids::of(self.task) }
    }

    /// Returns whether the task was woken and not polled since, or was woken since its poll began; `None` if that isn't
    /// known.
    pub(crate) fn is_woken(self) -> Option<bool> {
        // SAFETY: as above. Test: `recording::waits::locals`.
        unsafe { refs::is_woken(self.task) }
    }

    /// Returns where the task is in memory; `None` if it isn't known where ids are.
    pub(crate) fn address(self) -> Option<TaskAddress> {
        // SAFETY: as for the id.
        let id_at = unsafe { ids::address(self.task) }?;
        Some(TaskAddress { header: self.task.addr(), id_at: id_at.addr() })
    }
}
