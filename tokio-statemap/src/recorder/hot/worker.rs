//! Finds out which worker a thread is.
//!
//! `tokio::runtime::worker_index` is the index of the worker whose run loop the thread is in.
//! Before a poll, and around a park, the thread is that worker. At other times `block_in_place` may
//! have moved the worker to another thread, or the run loop may belong to another runtime.

use tokio::runtime::{Handle, RuntimeFlavor, worker_index};

/// Returns the worker that the thread is after a poll, during which the thread may have lost it.
pub(crate) fn after_poll() -> Option<usize> {
    worker_index().filter(|&index| is_this_thread(index))
}

/// Returns whether this thread is the worker `index` of the current runtime: the last thread that took the worker's
/// core.
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
    // Without task hooks there is no way to tell, and ends of polls are not recorded. In most programs the answer is
    // yes.
    #[cfg(not(tokio_unstable))]
    {
        let _ = index;
        true
    }
}

/// The worker that polls a root future.
#[derive(Debug)]
pub(crate) struct RootWorker {
    /// `true` if `block_on` was called within a task's poll. The thread is then in the run loop of a worker that was
    /// moved to another thread, possibly of another runtime. If this runtime has no worker here, `worker_index` returns
    /// the index of that worker.
    is_within_poll: bool,
    /// `true` if the runtime's workers are threads of their own.
    has_threads: Option<bool>,
}

impl RootWorker {
    /// Creates the worker of a future that `block_on` is about to poll.
    pub(crate) fn new() -> Self {
        Self { is_within_poll: tokio::task::try_id().is_some(), has_threads: None }
    }

    /// Looks up the runtime that the future is in, on its first poll.
    pub(crate) fn set_runtime(&mut self, handle: &Handle) {
        let has_threads = handle.runtime_flavor() != RuntimeFlavor::CurrentThread;
        self.has_threads = Some(has_threads);
    }

    pub(crate) fn is_known(&self) -> bool {
        self.has_threads.is_some()
    }

    /// Returns the worker that the thread currently is, in the future's runtime. If several threads are in
    /// `block_on` of a `current_thread` runtime, only one of them is the worker.
    pub(crate) fn get(&self) -> Option<usize> {
        if self.has_threads != Some(false) {
            return None;
        }
        // A `current_thread` runtime has a single worker.
        let index = worker_index().filter(|&index| index == 0);
        index.filter(|&index| !self.is_within_poll || is_this_thread(index))
    }
}
