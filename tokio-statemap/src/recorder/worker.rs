//! Which worker a thread is.
//!
//! `tokio::runtime::worker_index` says of which worker's loop a thread is in. In a hook before a poll, and
//! in those around a park, that is the one it is. At other times it may have lost it to another thread,
//! by `block_in_place`, or the loop may be another runtime's.

use tokio::runtime::{Handle, RuntimeFlavor, worker_index};

/// Which worker the thread is at the end of a poll, in which it may have lost it.
pub(crate) fn after_poll() -> Option<usize> {
    worker_index().filter(|&index| is_this_thread(index))
}

/// Whether this thread is the worker `index` of the runtime that it is in: whether it took the worker's
/// core last.
fn is_this_thread(index: usize) -> bool {
    #[cfg(tokio_unstable)]
    {
        let runtime = Handle::try_current();
        let thread = std::thread::current().id();
        runtime.is_ok_and(|handle| {
            let metrics = handle.metrics();
            index < metrics.num_workers() && metrics.worker_thread_id(index) == Some(thread)
        })
    }
    // Nobody tells. The ends of polls aren't told either, and in most programs it is.
    #[cfg(not(tokio_unstable))]
    {
        let _ = index;
        true
    }
}

/// Where a root future is polled.
#[derive(Debug)]
pub(crate) struct RootPlace {
    /// Whether `block_on` was called within the poll of a task. Then the thread is in the loop of a worker
    /// that was taken away from it, be it another runtime's, and `worker_index` says that one's, if there is
    /// none here.
    is_within_poll: bool,
    /// Whether the runtime has workers that are threads of their own.
    has_threads: Option<bool>,
}

impl RootPlace {
    /// That of a future that `block_on` is about to drive.
    pub(crate) fn new() -> Self {
        Self { is_within_poll: tokio::task::try_id().is_some(), has_threads: None }
    }

    /// Learns which runtime the future is in, the first time it is polled.
    pub(crate) fn learn(&mut self, handle: &Handle) {
        let has_threads = handle.runtime_flavor() != RuntimeFlavor::CurrentThread;
        self.has_threads = Some(has_threads);
    }

    pub(crate) fn is_known(&self) -> bool {
        self.has_threads.is_some()
    }

    /// The worker that the thread is now, of the runtime that the future is in. Of several threads in
    /// `block_on` of a `current_thread` runtime only one is.
    pub(crate) fn worker(&self) -> Option<usize> {
        if self.has_threads != Some(false) {
            return None;
        }
        // Of such a runtime there is one.
        let index = worker_index().filter(|&index| index == 0);
        index.filter(|&index| !self.is_within_poll || is_this_thread(index))
    }
}
