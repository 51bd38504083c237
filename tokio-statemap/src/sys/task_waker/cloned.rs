//! A task whose waker is being cloned.

use std::marker::PhantomData;

use super::address::TaskAddress;
use super::{ids, refs};

/// A task whose waker is being cloned: its header is there during the call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cloned<'a> {
    task: *const (),
    lives: PhantomData<&'a ()>,
}

impl Cloned<'_> {
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

    /// Returns whether the task, which is polled, was woken since the poll began; `None` if that isn't known.
    pub(crate) fn is_woken_in_poll(self) -> Option<bool> {
        // SAFETY: as above. Test: `recording::waits::locals`.
        unsafe { refs::is_woken_in_poll(self.task) }
    }

    /// Returns where the task is in memory; `None` if it isn't known where ids are.
    pub(crate) fn address(self) -> Option<TaskAddress> {
        // SAFETY: as for the id.
        unsafe { ids::address(self.task).map(|id| TaskAddress::new(self.task, id)) }
    }
}
