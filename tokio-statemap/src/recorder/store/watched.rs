//! The part of a thread's buffer that is for the watcher.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

/// The part of a buffer that the watcher uses.
#[derive(Debug)]
pub(crate) struct Watched {
    /// The id of the buffer's thread; 0 if there is none.
    thread: AtomicI32,
    /// One more than the index of the worker that the thread is; 0 if it is none.
    worker: AtomicU32,
    /// `true` if the watcher looks at the thread.
    pub(crate) is_awake: AtomicBool,
    /// `true` if the watcher has counted this buffer, and has room for it.
    pub(crate) is_counted: AtomicBool,
}

impl Watched {
    pub(crate) const fn new() -> Self {
        Self {
            thread: AtomicI32::new(0),
            worker: AtomicU32::new(0),
            is_awake: AtomicBool::new(false),
            is_counted: AtomicBool::new(false),
        }
    }

    /// Sets the system's id of the buffer's thread; 0 if it has none.
    pub(crate) fn set_thread(&self, id: i32) {
        self.thread.store(id, Ordering::Relaxed);
    }

    /// Sets the worker that the buffer's thread is.
    pub(crate) fn set_worker(&self, worker: Option<u32>) {
        let number = worker.map_or(0, |worker| worker.saturating_add(1));
        self.worker.store(number, Ordering::Relaxed);
    }

    pub(crate) fn worker(&self) -> Option<u32> {
        self.worker.load(Ordering::Relaxed).checked_sub(1)
    }

    pub(crate) fn thread(&self) -> i32 {
        self.thread.load(Ordering::Relaxed)
    }
}
