//! The locks of a recorder, and the order in which threads wait for them.
//!
//! A lock is only waited for by a thread that holds none of its rank or of a later one, so no two threads wait for each
//! other. A lock that is only [tried](try_lock) may be taken out of order. In debug builds the unit tests check that wherever they may
//! wait: a test would have to be lucky to run into a deadlock, but it always sees a wrong order.
//!
//! Other locks that are waited for while one of these is held, such as that of the list of all recorders, are ones whose holders wait for
//! none of these. Nothing checks that.

#[cfg_attr(not(all(test, debug_assertions, not(statemap_loom))), path = "unchecked.rs")]
mod held;

use std::ops::{Deref, DerefMut};

use crate::recorder::locks::held::Rank;
use crate::sys::sync::{Mutex, MutexGuard};
use crate::util::sync;

// The ranks, in the order in which locks are waited for.

/// The black box. A thread that writes it captures what is recorded.
#[cfg(has_black_box)]
pub(crate) const BLACK_BOX: u8 = 0;
/// The recorder of threads whose own one is destroyed. Their hooks do with it all that hooks do.
pub(crate) const FALLBACK: u8 = 1;
/// The remains of evicted records. While they are locked, nothing is evicted: whoever evicts holds this lock, too, and
/// only tries it while holding the next. A capture, and a count of what is lost, wait for the next while holding this.
pub(crate) const MEMORY: u8 = 2;
/// The records that are evicted.
pub(crate) const EVICTION: u8 = 3;
/// The windows. The mode is only changed while they are locked.
pub(crate) const WINDOWS: u8 = 4;
/// The late tasks, which a hook may wait for, but not in the child of a fork.
pub(crate) const LATE: u8 = 5;
/// The list of the threads' buffers.
pub(crate) const BUFFERS: u8 = 6;
/// The reading side of one buffer.
pub(crate) const READER: u8 = 7;
/// The chunks that are kept, and empty ones.
pub(crate) const STORE: u8 = 8;
/// All that is held while nothing is waited for: the recorders of threads that ended, and samples.
pub(crate) const LAST: u8 = 9;

/// A lock of the rank `RANK`.
#[derive(Debug, Default)]
pub(crate) struct Lock<T, const RANK: u8>(Mutex<T>);

impl<T, const RANK: u8> Lock<T, RANK> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }
}

/// The value of a lock that this thread holds.
pub(crate) struct Held<'a, T> {
    value: MutexGuard<'a, T>,
    _rank: Rank,
}

/// Locks `lock`, ignoring poisoning: no code of this crate panics while it holds a lock.
#[inline]
pub(crate) fn lock<T, const RANK: u8>(lock: &Lock<T, RANK>) -> Held<'_, T> {
    let rank = Rank::waits(RANK);
    Held { value: sync::lock(&lock.0), _rank: rank }
}

/// Locks `lock` if nothing else holds it.
#[inline]
pub(crate) fn try_lock<T, const RANK: u8>(lock: &Lock<T, RANK>) -> Option<Held<'_, T>> {
    sync::try_lock(&lock.0).map(|value| Held { value, _rank: Rank::tries(RANK) })
}

/// Locks `lock`, but doesn't wait for it if it may stay locked for ever, as in the child of a fork: another thread of
/// the parent may have had it.
pub(crate) fn lock_unless<T, const RANK: u8>(
    lock: &Lock<T, RANK>,
    may_stay: impl FnOnce() -> bool,
) -> Option<Held<'_, T>> {
    // This is asked only if the lock is taken, as it is a system call.
    let tried = sync::try_lock(&lock.0);
    // It might have waited.
    let tried = tried.map(|value| Held { value, _rank: Rank::waits(RANK) });
    tried.or_else(|| (!may_stay()).then(|| self::lock(lock)))
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Held<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
