//! Whether the wakers of tasks are seen just now, as far as that says that a task has none.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The number of times that what is seen may have changed, and one.
static GENERATION: AtomicUsize = AtomicUsize::new(1);
/// `true` if clones and wakes are seen.
static ARE_WAKES_SEEN: AtomicBool = AtomicBool::new(false);

/// Returns a number that stays the same as long as the same is seen. It is never 0.
#[inline]
pub(super) fn generation() -> usize {
    GENERATION.load(Ordering::Relaxed)
}

/// Returns whether clones and wakes of tasks' wakers are seen.
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

/// Called as one ends that.
#[cfg_attr(not(has_wakes), allow(dead_code, reason = "none is seen"))]
pub(super) fn ends() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}
