//! Tells who wakes a task, on the thread that wakes it.
//!
//! It tells only what is certain. For example, who wakes is unknown during a poll that no hook reported.

use std::cell::Cell;

use tokio::runtime::{Handle, RuntimeFlavor, worker_index};
use tokio::task::{Id, try_id};

use crate::recorder::record::{WokenBy, pack_root, pack_spawned};

thread_local! {
    /// The task or root future that is polled on this thread, packed; 0 if there is none, or if it isn't known.
    static POLLED: Cell<u64> = const { Cell::new(0) };
    /// The Tokio task in which this thread is a worker: a worker's loop is a task of the blocking pool.
    static LOOP: Cell<Option<Id>> = const { Cell::new(None) };
    /// `true` while a recorded root future is driven on this thread, which is the worker of its `current_thread`
    /// runtime.
    static DRIVES: Cell<bool> = const { Cell::new(false) };
    /// `true` on a thread that a runtime with hooks started: a worker, or one of the blocking pool.
    static IS_STARTED: Cell<bool> = const { Cell::new(false) };
}

/// The task or root future that was polled on this thread before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before(u64);

impl Before {
    /// It isn't known.
    pub(super) const UNKNOWN: Self = Self(0);
}

/// Called as the poll of a task starts. Returns what was polled before.
#[inline]
pub(super) fn task_poll_starts(task: u64) -> Before {
    let packed = WokenBy::Task(task).pack().unwrap_or(0);
    Before(POLLED.with(|polled| polled.replace(packed)))
}

/// Called as a poll ends.
#[inline]
pub(super) fn poll_ends(before: Before) {
    POLLED.with(|polled| polled.set(before.0));
}

/// Returns the task or root future that is polled on this thread.
#[cfg_attr(not(has_wakes), allow(dead_code, reason = "none is seen"))]
pub(super) fn polled() -> Before {
    Before(POLLED.with(Cell::get))
}

/// Returns the task or root future that is polled on this thread, packed with its recorder; 0 if there is none.
#[cfg(has_wakes)]
pub(super) fn packed_polled() -> u64 {
    POLLED.with(Cell::get)
}

/// Returns whether this spawned task is polled on this thread, by the innermost poll that is known.
#[cfg_attr(not(has_wakes), allow(dead_code, reason = "none is seen"))]
#[inline]
pub(super) fn is_polled(task: u64) -> bool {
    pack_spawned(task) == POLLED.with(Cell::get)
}

/// Called as the poll of a recorder's root future starts. `is_worker` tells whether this thread is the worker
/// meanwhile.
pub(crate) fn root_poll_starts(root: u64, recorder: u64, is_worker: bool) -> Before {
    DRIVES.with(|drives| drives.set(is_worker));
    Before(POLLED.with(|polled| polled.replace(pack_root(root, recorder))))
}

/// Called as the poll of a root future ends.
pub(crate) fn root_poll_ends(before: Before) {
    poll_ends(before);
}

/// Called as the root future is dropped.
pub(crate) fn root_ends() {
    let _ = DRIVES.try_with(|drives| drives.set(false));
}

/// Called on a thread that a runtime with hooks started.
pub(crate) fn thread_starts() {
    IS_STARTED.with(|is_started| is_started.set(true));
}

/// Called on a thread that is a worker, between two polls.
pub(crate) fn is_worker() {
    // A `current_thread` runtime has no such task, but a blocking task may be in its `block_on`.
    let is_multi = |handle: Handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread;
    let id = try_id().filter(|_| Handle::try_current().is_ok_and(is_multi));
    LOOP.with(|of_thread| of_thread.set(id));
}

/// Returns who wakes a task on this thread, packed; 0 if that isn't known.
#[cfg_attr(not(has_wakes), allow(dead_code, reason = "none is seen"))]
#[inline]
pub(crate) fn who_wakes() -> u64 {
    match POLLED.with(Cell::get) {
        0 => outside().and_then(WokenBy::pack).unwrap_or(0),
        polled => polled,
    }
}

/// Returns who wakes a task on this thread, which polls nothing that is known.
#[cfg_attr(not(has_wakes), allow(dead_code, reason = "none is seen"))]
#[inline(never)]
fn outside() -> Option<WokenBy> {
    match (worker_index(), try_id()) {
        // In a poll, the id would be that of another task.
        (Some(_), Some(id)) if LOOP.with(Cell::get) == Some(id) => Some(WokenBy::Runtime),
        (Some(_), None) if DRIVES.with(Cell::get) => Some(WokenBy::Runtime),
        // This is in a poll that no hook reported.
        (Some(_), _) => None,
        (None, _) if IS_STARTED.with(Cell::get) => Some(WokenBy::Blocking),
        // This is in a `LocalSet` that isn't in a recorded `block_on`.
        (None, Some(_)) => None,
        // If there is a runtime, this is in a `block_on` that isn't recorded. (The check counts up the runtime's
        // handles for a moment.)
        (None, None) => Handle::try_current().is_err().then_some(WokenBy::Thread),
    }
}
