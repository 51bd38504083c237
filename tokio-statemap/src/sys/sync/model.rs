//! Primitives that loom lacks: memory outside of its cells, and a lock that can be tried.

use std::ops::{Deref, DerefMut, Range};

use loom::cell::UnsafeCell;
use loom::sync::Condvar;
use loom::sync::atomic::AtomicUsize;

/// Loads an atomic that only the calling thread stores to. This isn't a load for loom: before a store loom
/// knows only of the last load, and so would not try other orders of the store and a load of another thread.
pub(crate) fn load_own(atomic: &AtomicUsize) -> usize {
    // SAFETY: no other thread stores to it; loom fails if one does. Test:
    // `recorder::models::chunk::it_is_read_while_it_is_written`.
    unsafe { atomic.unsync_load() }
}

/// Tells loom which places of memory are read and written. It fails for unordered accesses.
#[derive(Debug)]
pub(crate) struct Accesses(Box<[UnsafeCell<()>]>);

// SAFETY: nothing is in the cells. Test: `recorder::models::chunk::it_is_read_while_it_is_written`.
unsafe impl Sync for Accesses {}

impl Accesses {
    /// Creates the record for `places` places of memory.
    pub(crate) fn new(places: usize) -> Self {
        Self((0..places).map(|_| UnsafeCell::new(())).collect())
    }

    /// Records that these places are read.
    pub(crate) fn read(&self, places: Range<usize>) {
        self.0[places].iter().for_each(|cell| cell.with(|_| ()));
    }

    /// Records that these places are written.
    pub(crate) fn write(&self, places: Range<usize>) {
        self.0[places].iter().for_each(|cell| cell.with_mut(|_| ()));
    }
}

/// A lock that can be tried. With loom's own, a thread that tries a held lock waits for it, and so may block
/// what the holder waits for.
#[derive(Debug)]
pub(crate) struct Mutex<T> {
    is_locked: loom::sync::Mutex<bool>,
    unlocked: Condvar,
    /// Never contended, and orders nothing in a model.
    value: std::sync::Mutex<T>,
}

#[derive(Debug)]
pub(crate) struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    /// `None` while it is dropped.
    value: Option<std::sync::MutexGuard<'a, T>>,
}

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        let is_locked = loom::sync::Mutex::new(false);
        Self { is_locked, unlocked: Condvar::new(), value: std::sync::Mutex::new(value) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        let mut is_locked = self.is_locked.lock().expect("nothing panics");
        while *is_locked {
            is_locked = self.unlocked.wait(is_locked).expect("nothing panics");
        }
        *is_locked = true;
        drop(is_locked);
        self.guard()
    }

    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let is_locked =
            std::mem::replace(&mut *self.is_locked.lock().expect("nothing panics"), true);
        (!is_locked).then(|| self.guard())
    }

    fn guard(&self) -> MutexGuard<'_, T> {
        MutexGuard { mutex: self, value: self.value.try_lock().ok() }
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("it is locked")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("it is locked")
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.value = None;
        // A model that has failed is over.
        if !std::thread::panicking() {
            *self.mutex.is_locked.lock().expect("nothing panics") = false;
            self.mutex.unlocked.notify_one();
        }
    }
}
