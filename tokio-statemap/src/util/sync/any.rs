//! Locks in a model, where some mutexes are the model's and others are std's.

use std::sync::{Arc, LazyLock, PoisonError};

use crate::sys::sync as model;

pub(crate) trait AnyMutex<'a> {
    type Guard: 'a;
    fn lock_any(&'a self) -> Self::Guard;
    fn try_lock_any(&'a self) -> Option<Self::Guard>;
}

/// Locks `mutex`.
pub(crate) fn lock<'a, M: AnyMutex<'a>>(mutex: &'a M) -> M::Guard {
    mutex.lock_any()
}

/// Locks `mutex` if nothing else holds the lock.
pub(crate) fn try_lock<'a, M: AnyMutex<'a>>(mutex: &'a M) -> Option<M::Guard> {
    mutex.try_lock_any()
}

impl<'a, T: 'a> AnyMutex<'a> for model::Mutex<T> {
    type Guard = model::MutexGuard<'a, T>;

    fn lock_any(&'a self) -> Self::Guard {
        self.lock()
    }

    fn try_lock_any(&'a self) -> Option<Self::Guard> {
        self.try_lock()
    }
}

impl<'a, T: 'a> AnyMutex<'a> for std::sync::Mutex<T> {
    type Guard = std::sync::MutexGuard<'a, T>;

    fn lock_any(&'a self) -> Self::Guard {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_lock_any(&'a self) -> Option<Self::Guard> {
        super::try_std(self)
    }
}

// Generic code doesn't dereference by itself.

impl<'a, M: AnyMutex<'a> + 'a> AnyMutex<'a> for Arc<M> {
    type Guard = M::Guard;

    fn lock_any(&'a self) -> Self::Guard {
        (**self).lock_any()
    }

    fn try_lock_any(&'a self) -> Option<Self::Guard> {
        (**self).try_lock_any()
    }
}

impl<'a, M: AnyMutex<'a> + 'a> AnyMutex<'a> for LazyLock<M> {
    type Guard = M::Guard;

    fn lock_any(&'a self) -> Self::Guard {
        (**self).lock_any()
    }

    fn try_lock_any(&'a self) -> Option<Self::Guard> {
        (**self).try_lock_any()
    }
}
