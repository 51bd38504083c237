//! References to tasks, which keep the memory of their headers.
//!
//! A task whose header is to be read at any time has to be held by a reference, as a waker holds it. All references are
//! taken out of their places under one lock, [`Look`], so whoever has the lock can read the headers.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use super::{hook, ids, refs};

/// A task whose waker is being cloned: its header is there during the call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cloned<'a> {
    task: *const (),
    lives: PhantomData<&'a ()>,
}

/// The stage of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It waits to be woken.
    Waits,
    /// It was woken, and isn't polled yet.
    IsReady,
    /// It is polled.
    IsPolled {
        /// `true` if it was woken since the poll began.
        is_woken: bool,
    },
    /// It has ended, or is about to be dropped.
    Ended,
}

impl Cloned<'_> {
    /// # Safety
    ///
    /// `task` is the data of a waker of a task of Tokio's, and the waker lives as long as this.
    #[inline]
    pub(super) unsafe fn new(task: *const ()) -> Self {
        Self { task, lives: PhantomData }
    }

    /// Returns the address of the task.
    #[inline]
    pub(crate) fn address(self) -> usize {
        self.task.addr()
    }

    /// Returns the id of the task; `None` if it isn't known where ids are.
    #[inline]
    pub(crate) fn id(self) -> Option<u64> {
        // SAFETY: the task has a waker. Test: `recording::waits::locals`.
        unsafe { ids::of(self.task) }
    }

    /// Returns the stage of the task; `None` if that can't be known.
    pub(crate) fn stage(self) -> Option<Stage> {
        // SAFETY: as above.
        unsafe { refs::stage(self.task) }
    }

    /// Returns a reference to the task.
    pub(crate) fn hold(self) -> Reference {
        // SAFETY: as above.
        unsafe { hook::add_reference(self.task) };
        Reference(self.task.expose_provenance())
    }
}

/// A reference to a task, as that of a waker.
#[derive(Debug)]
pub(crate) struct Reference(usize);

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: `Cloned::hold` added the reference. Test: as above.
        unsafe { hook::remove_reference(std::ptr::with_exposed_provenance(self.0)) };
    }
}

/// The right to read the headers of held tasks, and to let them go.
pub(crate) struct Look(#[expect(dead_code, reason = "it is locked")] MutexGuard<'static, ()>);

static LOOK: Mutex<()> = Mutex::new(());

impl Look {
    /// Waits until no other thread looks.
    pub(crate) fn wait() -> Self {
        Self(LOOK.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns `None` if another thread looks.
    pub(crate) fn now() -> Option<Self> {
        match LOOK.try_lock() {
            Ok(guard) => Some(Self(guard)),
            Err(TryLockError::Poisoned(poisoned)) => Some(Self(poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// A place for a reference.
#[derive(Debug)]
pub(crate) struct Held(AtomicUsize);

impl Held {
    pub(crate) const fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Puts a reference into this place. Returns the reference if there is one already.
    pub(crate) fn put(&self, reference: Reference) -> Option<Reference> {
        match self.0.compare_exchange(0, reference.0, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => {
                std::mem::forget(reference);
                None
            }
            Err(_) => Some(reference),
        }
    }

    /// Takes the reference. It is to be dropped when the look is over, as this may run code of the program.
    pub(crate) fn take(&self, _: &Look) -> Option<Reference> {
        let task = self.0.swap(0, Ordering::AcqRel);
        // Not `then_some`, which would make a reference to nothing, and drop it.
        (task != 0).then(|| Reference(task))
    }

    /// Returns the stage of the task; `None` if there is none.
    pub(crate) fn stage(&self, _: &Look) -> Option<Stage> {
        let task = self.0.load(Ordering::Acquire);
        if task == 0 {
            return None;
        }
        // SAFETY: the reference is there until `take`, which needs the look. Test: as above.
        unsafe { refs::stage(std::ptr::with_exposed_provenance(task)) }
    }
}
