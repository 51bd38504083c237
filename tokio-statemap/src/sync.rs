//! Locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`. No code of ours panics while it holds a lock, so there is nothing to distrust in
/// a lock that someone else's panic has poisoned.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
