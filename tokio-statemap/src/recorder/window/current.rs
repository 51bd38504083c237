//! The facts about the current window that hooks ask for, without the lock of all windows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

use crate::recorder::locks::{Held, LATE, Lock, lock_unless, try_lock};
use crate::recorder::window::late_tasks::{self, LateTasks};

/// The current window, or the last one if nothing is recorded.
#[derive(Debug)]
pub(crate) struct Current {
    late: Lock<Arc<LateTasks>, LATE>,
    /// The time at which it began, in ticks.
    from: AtomicU64,
    /// `true` if a hook ran while nothing was recorded.
    ran_while_off: AtomicBool,
}

impl Current {
    pub(crate) fn new() -> Self {
        Self {
            late: Lock::new(Arc::new(LateTasks::new())),
            from: AtomicU64::new(0),
            ran_while_off: AtomicBool::new(false),
        }
    }

    /// Begins a window at `from`, in ticks. `record` has hooks record.
    pub(crate) fn begin(
        &self,
        (from, is_first): (u64, bool),
        is_forked: impl FnOnce() -> bool,
        record: impl FnOnce(),
    ) {
        // Every task may be late until an upper bound is known.
        let late = Arc::new(LateTasks::new());
        // Dropped after the lock is released, as hooks wait for it.
        let _before = self
            .lock_late(is_forked)
            .map(|mut current| std::mem::replace(&mut *current, Arc::clone(&late)));
        self.from.store(from, Ordering::Relaxed);
        record();
        // Each spawn is either recorded from here on, or sets `ran_while_off`.
        fence(Ordering::SeqCst);
        if is_first && !self.ran_while_off.load(Ordering::Relaxed) {
            late.set_below(0);
        } else if let Some(id) = late_tasks::next_task_id() {
            late.set_below(id);
        }
    }

    /// Returns its late tasks. `None` in the child of a fork in which they stay locked: then the origins of tasks from
    /// before the window aren't recorded.
    pub(crate) fn late(&self, is_forked: impl FnOnce() -> bool) -> Option<Arc<LateTasks>> {
        self.lock_late(is_forked).map(|late| Arc::clone(&late))
    }

    pub(in crate::recorder) fn lock_late(
        &self,
        is_forked: impl FnOnce() -> bool,
    ) -> Option<Held<'_, Arc<LateTasks>>> {
        lock_unless(&self.late, is_forked)
    }

    /// Returns whether nobody has locked its late tasks.
    pub(crate) fn is_free(&self) -> bool {
        try_lock(&self.late).is_some()
    }

    /// Returns when it began, in ticks.
    pub(crate) fn from(&self) -> u64 {
        self.from.load(Ordering::Relaxed)
    }

    /// Declares that tasks may be spawned before the first start.
    pub(crate) fn expect_late_start(&self) {
        self.ran_while_off.store(true, Ordering::Relaxed);
    }

    /// Called by a hook that runs while nothing is recorded.
    pub(crate) fn mark_ran_while_off(&self) {
        if !self.ran_while_off.load(Ordering::Relaxed) {
            self.ran_while_off.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
        }
    }
}
