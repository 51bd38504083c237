//! Tells whether a waker is the last one of its task, and what else the state of a task says.
//!
//! The first word of a task's header has the task's state, in the lowest bits, and the number of references to the
//! task: one of the runtime, another while the task is polled or about to be, one of the handle to join it, and one for
//! each waker and each handle to abort it. Tasks of our own show whether this is so.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use tokio::task::JoinHandle;

use super::table::{beside_an_idle_task, in_a_task, polled_once};

/// The bits that say whether the task waits, is polled, is about to be polled, or has ended.
const STAGE: usize = 0b111;
const WAITS: usize = 0;
const IS_POLLED: usize = 1;
/// Set if the task was woken, and not polled since.
const IS_WOKEN: usize = 4;
/// Set if there is a handle to join the task.
const HAS_JOIN_HANDLE: usize = 1 << 3;
/// Set if the task is to be dropped.
const IS_ABORTED: usize = 1 << 5;
/// The value of one reference.
const ONE: usize = 1 << 6;
/// More references than a task has. It tells the state of a task from what may be there after the task was freed.
const TOO_MANY: usize = 1 << 24;

/// `true` once it is known that states are like this.
static ARE_KNOWN: AtomicBool = AtomicBool::new(false);

/// Finds out whether states are like this, once.
pub(super) fn find() {
    static FOUND: OnceLock<()> = OnceLock::new();
    FOUND.get_or_init(|| {
        let are_known = beside_an_idle_task(are_as_expected).unwrap_or(false)
            && in_a_task(|waker| usize::from(is_wake_in_poll_told(waker))) == Some(1)
            && is_end_told().unwrap_or(false);
        ARE_KNOWN.store(are_known, Ordering::Release);
    });
}

/// Returns whether the check recognises the last waker of a waiting task, with and without a handle to join the task.
/// It must not recognise one of two wakers, nor the last waker once that has woken the task.
fn are_as_expected(waker: &Waker, joins: JoinHandle<()>) -> bool {
    // SAFETY: they are wakers of a task of Tokio's. Test: `recorder::chains::wakers::tests::the_last_waker_is_told`.
    let is_last = |waker: &Waker| is_last_in(unsafe { state(waker.data()) }, WAITS);
    let is_told = || {
        let alone = is_last(waker);
        let other = waker.clone();
        alone && !is_last(waker) && !is_last(&other)
    };
    let with_handle = is_told();
    drop(joins);
    let without = is_told();
    waker.wake_by_ref();
    with_handle && without && !is_last(waker)
}

/// Returns whether the state of a polled task tells that it is woken in that poll.
fn is_wake_in_poll_told(waker: &Waker) -> bool {
    // SAFETY: it is a waker of a task of Tokio's. Test: `recording::waits::locals`.
    let stage = || unsafe { state(waker.data()) } & STAGE;
    let before = stage();
    waker.wake_by_ref();
    before == IS_POLLED && stage() == IS_POLLED | IS_WOKEN
}

/// Returns whether the state of a task that is aborted, and then has ended, tells that it doesn't wait. `None` where there
/// can be no task.
fn is_end_told() -> Option<bool> {
    fn waits(waker: &Waker) -> bool {
        // SAFETY: it is a waker of a task of Tokio's. Test: `recording::waits::locals`.
        is_waiting(unsafe { state(waker.data()) })
    }
    let is_abort_told = beside_an_idle_task(|waker, joins| {
        let before = waits(waker);
        joins.abort();
        before && !waits(waker)
    })?;
    let waker = Rc::new(Cell::new(None));
    let keeps = Rc::clone(&waker);
    let poll = move |cx: &mut Context<'_>| {
        keeps.set(Some(cx.waker().clone()));
        Poll::Ready(())
    };
    let kept = polled_once(poll, |_| waker.take())??;
    Some(is_abort_told && !waits(&kept))
}

/// Returns whether a task in this state, which was read without a reference to it, waits: it is neither polled nor woken, isn't
/// aborted, and hasn't ended. `false` if that isn't known.
pub(super) fn waits_in(state: usize) -> bool {
    ARE_KNOWN.load(Ordering::Relaxed) && is_waiting(state)
}

fn is_waiting(state: usize) -> bool {
    state & (STAGE | IS_ABORTED) == WAITS && (1..TOO_MANY).contains(&(state / ONE))
}

/// Returns whether a task was woken and not polled since, or was woken since its poll began; `None` if that isn't known.
///
/// # Safety
///
/// The same as for [`is_last`].
pub(super) unsafe fn is_woken(task: *const ()) -> Option<bool> {
    // SAFETY: as for this function.
    ARE_KNOWN.load(Ordering::Relaxed).then(|| unsafe { state(task) } & IS_WOKEN != 0)
}

/// Returns whether this is the last waker of a task that is neither polled nor about to be. If it wakes by value,
/// nothing is left that could wake the task. `false` if that isn't known.
///
/// # Safety
///
/// `task` is the data of a waker of a task of Tokio's.
#[inline]
pub(super) unsafe fn is_last(task: *const ()) -> bool {
    // SAFETY: as for this function.
    ARE_KNOWN.load(Ordering::Relaxed) && is_last_in(unsafe { state(task) }, WAITS)
}

/// Returns whether this is the last waker of a task that is polled. `false` if that isn't known.
///
/// # Safety
///
/// The same as for [`is_last`].
#[inline]
pub(super) unsafe fn is_last_of_polled(task: *const ()) -> bool {
    // SAFETY: as for this function.
    ARE_KNOWN.load(Ordering::Relaxed) && is_last_in(unsafe { state(task) }, IS_POLLED)
}

/// Returns whether a task that is polled has no waker but the one that its poll was given. `false` if that isn't known.
///
/// # Safety
///
/// The same as for [`is_last`].
#[inline]
pub(super) unsafe fn is_polled_with_none(task: *const ()) -> bool {
    // SAFETY: as for this function.
    ARE_KNOWN.load(Ordering::Relaxed) && has_wakers_in(unsafe { state(task) }, IS_POLLED, 0)
}

/// # Safety
///
/// The same as for [`is_last`].
#[inline]
unsafe fn state(task: *const ()) -> usize {
    // SAFETY: a task begins with its header, and the header with a word that Tokio accesses as an atomic. Test:
    // `recorder::chains::wakers::tests::the_last_waker_is_told`.
    unsafe { (*task.cast::<AtomicUsize>()).load(Ordering::Relaxed) }
}

/// Returns whether a task in this state is at this stage and has one waker.
#[inline]
fn is_last_in(state: usize, stage: usize) -> bool {
    has_wakers_in(state, stage, 1)
}

/// Returns whether a task in this state is at this stage and has this many wakers. The runtime has one reference, and
/// another during a poll.
#[inline]
fn has_wakers_in(state: usize, stage: usize, wakers: usize) -> bool {
    let of_runtime = if stage == IS_POLLED { 2 } else { 1 };
    let join_handles = usize::from(state & HAS_JOIN_HANDLE != 0);
    state & STAGE == stage && state / ONE == of_runtime + join_handles + wakers
}
