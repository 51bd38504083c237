//! Whether a waker is the last one of its task.
//!
//! The first word of a task's header has its state, in the lowest bits, and the number of references to it: one of the runtime,
//! another while the task is polled or about to be, one of the handle to join it, and one for each waker and each handle to abort it.
//! That this is so, is found out with tasks of our own.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Waker;

use super::table::{Handle, beside_an_idle_task};

/// It is polled, has ended, or is about to be polled.
const IS_BUSY: usize = 0b111;
/// It is polled.
const IS_POLLED: usize = 1;
/// There is a handle to join it.
const HAS_JOIN_HANDLE: usize = 1 << 3;
/// A reference.
const ONE: usize = 1 << 6;

/// `true` once it is known that states are like this.
static ARE_KNOWN: AtomicBool = AtomicBool::new(false);

/// Finds out whether states are like this, once.
pub(super) fn find() {
    static FOUND: OnceLock<()> = OnceLock::new();
    FOUND.get_or_init(|| {
        let are_known = [Handle::Kept, Handle::Dropped]
            .into_iter()
            .all(|handle| beside_an_idle_task(handle, is_told_from_others).unwrap_or(false));
        ARE_KNOWN.store(are_known, Ordering::Release);
    });
}

/// Returns whether it is told that this is the last waker of its task, and when it isn't, or the task is about to be polled.
fn is_told_from_others(waker: &Waker) -> bool {
    // SAFETY: they are wakers of a task of Tokio's. Test: `recorder::chains::wakers::tests::the_last_waker_is_told`.
    let is_last = |waker: &Waker| is_last_in(unsafe { state(waker.data()) });
    let alone = is_last(waker);
    let other = waker.clone();
    let one_of_two = is_last(waker) || is_last(&other);
    drop(other);
    let alone_again = is_last(waker);
    waker.wake_by_ref();
    alone && alone_again && !one_of_two && !is_last(waker)
}

/// Returns whether this is the last waker of a task that is neither polled nor about to be: if it is woken by value, nothing is left
/// that could wake it. `false` if that isn't known.
///
/// # Safety
///
/// `task` is the data of a waker of a task of Tokio's.
#[inline]
pub(super) unsafe fn is_last(task: *const ()) -> bool {
    // SAFETY: as of this function.
    ARE_KNOWN.load(Ordering::Relaxed) && is_last_in(unsafe { state(task) })
}

/// Returns whether this is the last waker of a task that is polled. `false` if that isn't known.
///
/// # Safety
///
/// As of [`is_last`].
#[inline]
pub(super) unsafe fn is_last_of_polled(task: *const ()) -> bool {
    // SAFETY: as of this function.
    let state = unsafe { state(task) };
    ARE_KNOWN.load(Ordering::Relaxed)
        && state & IS_BUSY == IS_POLLED
        && state / ONE == 3 + join_handles(state)
}

/// # Safety
///
/// As of [`is_last`].
#[inline]
unsafe fn state(task: *const ()) -> usize {
    // SAFETY: a task begins with its header, and that with a word that Tokio accesses as an atomic. Test:
    // `recorder::chains::wakers::tests::the_last_waker_is_told`.
    unsafe { (*task.cast::<AtomicUsize>()).load(Ordering::Relaxed) }
}

#[inline]
fn is_last_in(state: usize) -> bool {
    state & IS_BUSY == 0 && state / ONE == 2 + join_handles(state)
}

#[inline]
fn join_handles(state: usize) -> usize {
    (state & HAS_JOIN_HANDLE) / HAS_JOIN_HANDLE
}
