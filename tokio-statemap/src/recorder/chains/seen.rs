//! Tells whether the wakers of tasks are seen just now, without which it isn't known that a task has none.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// One more than the number of times that a recorder began or ceased to watch wakers.
static GENERATION: AtomicUsize = AtomicUsize::new(1);
/// `true` if wakes are seen, too, or were when wakers were watched last.
static ARE_WAKES_SEEN: AtomicBool = AtomicBool::new(false);

/// Returns a number that changes whenever what is seen may change. It is never 0.
#[inline]
pub(super) fn generation() -> usize {
    GENERATION.load(Ordering::Relaxed)
}

/// Returns whether clones and wakes of tasks' wakers are seen, or were when wakers were watched last.
#[inline]
pub(crate) fn are_wakes_seen() -> bool {
    ARE_WAKES_SEEN.load(Ordering::Relaxed)
}

/// Called as a recorder begins to watch wakers; `are_wakes` tells whether wakes are seen, and not only clones.
#[cfg_attr(not(has_wakes), allow(dead_code, reason = "none is seen"))]
pub(super) fn begins(are_wakes: bool) {
    ARE_WAKES_SEEN.store(are_wakes, Ordering::Relaxed);
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Called as a recorder ceases to watch wakers.
#[cfg_attr(not(has_wakes), allow(dead_code, reason = "none is seen"))]
pub(super) fn ends() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}
