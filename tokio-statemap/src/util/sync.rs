//! Locks.

#[cfg(statemap_loom)]
mod any;

#[cfg(not(statemap_loom))]
use std::sync::PoisonError;
use std::sync::{Mutex, MutexGuard, TryLockError};

#[cfg(statemap_loom)]
pub(crate) use any::{lock, try_lock};

/// Locks `mutex`, ignoring poisoning: no code of this crate panics while it holds a lock.
#[cfg(not(statemap_loom))]
#[inline(never)]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks `mutex` if nothing else holds the lock.
#[cfg(not(statemap_loom))]
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    try_std(mutex)
}

fn try_std<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
