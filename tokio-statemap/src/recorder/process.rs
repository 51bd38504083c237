//! Tells whether this process has the background thread, and wakes the thread.
//!
//! This is all that hooks know of the thread. What the thread does is in [`background`](crate::recorder::background),
//! above them.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::util::sync::{lock, try_lock};

/// This process.
pub(super) static PROCESS: Process = Process::new();

/// The process that has the background thread.
#[derive(Debug)]
pub(super) struct Process {
    /// The process that last had the thread, even if it no longer has it; 0 if none ever had.
    id: AtomicU32,
    /// `true` if that process has the thread. Changed only by the holder of the list of recorders.
    has_thread: AtomicBool,
}

impl Process {
    pub(super) const fn new() -> Self {
        Self { id: AtomicU32::new(0), has_thread: AtomicBool::new(false) }
    }

    pub(super) fn is_there(&self) -> bool {
        self.has_thread.load(Ordering::Acquire)
            && self.id.load(Ordering::Relaxed) == std::process::id()
    }

    pub(super) fn is_forked(&self) -> bool {
        let id = self.id.load(Ordering::Relaxed);
        id != 0 && id != std::process::id()
    }

    /// Makes this the process that may have the thread. If it is the child of a fork, it has none yet.
    pub(super) fn adopt(&self) {
        if self.is_forked() {
            self.has_thread.store(false, Ordering::Release);
        }
        self.id.store(std::process::id(), Ordering::Relaxed);
    }

    /// Notes whether the thread exists.
    pub(super) fn set_thread(&self, exists: bool) {
        self.has_thread.store(exists, Ordering::Release);
    }
}

/// Returns whether the background thread exists. A child of a fork has none.
pub(crate) fn is_there() -> bool {
    PROCESS.is_there()
}

/// Returns whether this is the child of a fork, in which the thread is gone and what it had locked stays locked.
pub(crate) fn is_forked() -> bool {
    PROCESS.is_forked()
}

/// In a model, sets whether the thread exists, which is one of the model's.
#[cfg(all(test, statemap_loom))]
pub(crate) fn pretend_there(is_there: bool) {
    PROCESS.adopt();
    PROCESS.set_thread(is_there);
}

/// `true` if the thread sleeps until it is woken.
static SLEEPS: AtomicBool = AtomicBool::new(false);

static SLEEP: Mutex<()> = Mutex::new(());
static WAKE: Condvar = Condvar::new();

/// Returns whether the child of a fork can have a thread of its own. It can't if the lock of the thread's sleep was
/// held in the parent, as nobody will unlock it.
pub(super) fn can_have_thread_after_fork() -> bool {
    let is_free = try_lock(&SLEEP).is_some();
    if is_free {
        SLEEPS.store(false, Ordering::Relaxed);
    }
    is_free
}

/// Wakes the thread if it sleeps, after something was left for it to do.
#[inline]
pub(crate) fn wake() {
    // Either the thread finds what there is to do before it sleeps, or this finds that it sleeps.
    fence(Ordering::SeqCst);
    if SLEEPS.load(Ordering::Relaxed) {
        wake_up();
    }
}

#[cold]
#[inline(never)]
fn wake_up() {
    if !is_forked() && SLEEPS.swap(false, Ordering::AcqRel) {
        // Locked, so that the thread doesn't fall asleep between its look at the flag and its wait.
        let _sleep = lock(&SLEEP);
        WAKE.notify_one();
    }
}

/// Returns whether the thread sleeps.
#[cfg(all(test, tokio_unstable))]
pub(super) fn sleeps() -> bool {
    SLEEPS.load(Ordering::SeqCst)
}

/// Sleeps until woken, but no longer than `most` if given, and not at all if `has_work` then returns `true`. Called by
/// the thread.
pub(super) fn sleep(most: Option<Duration>, has_work: &dyn Fn() -> bool) {
    SLEEPS.store(true, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    if !has_work() {
        let mut sleep = lock(&SLEEP);
        while SLEEPS.load(Ordering::Relaxed) {
            let Some(most) = most else {
                sleep = WAKE.wait(sleep).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let woken = WAKE.wait_timeout(sleep, most).unwrap_or_else(PoisonError::into_inner);
            sleep = woken.0;
            if woken.1.timed_out() {
                break;
            }
        }
    }
    SLEEPS.store(false, Ordering::Relaxed);
}
