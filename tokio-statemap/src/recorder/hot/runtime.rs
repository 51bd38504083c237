//! The facts that are known of the recorded runtime.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use tokio::runtime::{Handle, Id, RuntimeFlavor};

use crate::recorder::hot::roots::Roots;
use crate::recorder::hot::{Shared, runtimes};

/// The runtime of a recorder.
#[derive(Default)]
pub(crate) struct RecordedRuntime {
    /// Its name, once known, if it has one.
    name: OnceLock<String>,
    /// The version of the program, if it was set.
    pub(crate) version: OnceLock<String>,
    /// The futures passed to its `block_on`.
    pub(crate) roots: Roots,
    /// Set by the first hook that runs inside the runtime.
    id: OnceLock<Id>,
    /// The number of its workers, set with `id`.
    workers: AtomicUsize,
    /// `true` if it is known to have started its threads.
    is_built: AtomicBool,
    /// The number of its threads that have started and not stopped, even while nothing is recorded.
    pub(super) started_threads: AtomicU64,
    /// `true` if tasks waited for a thread of the blocking pool at the last check.
    pub(in crate::recorder) has_queue: AtomicBool,
    /// `true` once it is known that it was built with the hooks.
    pub(super) is_hooked: AtomicBool,
    /// Called once it has started its threads.
    when_built: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl fmt::Debug for RecordedRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedRuntime").field("name", &self.name).finish_non_exhaustive()
    }
}

impl RecordedRuntime {
    pub(crate) fn name(&self) -> Option<String> {
        self.name.get().cloned()
    }

    /// Sets its name, unless one is known.
    pub(crate) fn set_name(&self, name: &str) {
        self.name.get_or_init(|| name.to_owned());
    }

    #[cfg(tokio_unstable)]
    pub(super) fn id(&self) -> Option<Id> {
        self.id.get().copied()
    }

    #[inline]
    pub(super) fn is_known(&self) -> bool {
        self.id.get().is_some()
    }

    /// Returns whether it has started its threads.
    pub(crate) fn is_built(&self) -> bool {
        self.is_built.load(Ordering::Relaxed)
    }

    /// Returns whether it is known that it was built with the hooks.
    pub(crate) fn is_hooked(&self) -> bool {
        self.is_hooked.load(Ordering::Relaxed)
    }

    /// Returns whether threads that it started are still running.
    pub(crate) fn has_threads(&self) -> bool {
        self.started_threads.load(Ordering::Relaxed) > 0
    }

    /// Returns the number of its workers; 0 as long as it is not known.
    #[cfg_attr(not(all(has_stacks, feature = "html")), allow(dead_code, reason = "nobody asks"))]
    pub(crate) fn workers(&self) -> usize {
        self.workers.load(Ordering::Relaxed)
    }

    /// Returns whether it is the runtime of `handle`.
    pub(crate) fn is(&self, handle: &Handle) -> bool {
        self.id.get() == Some(&handle.id())
    }

    /// Sets the function to call once it has started its threads.
    pub(crate) fn when_built(&self, f: Box<dyn Fn() + Send + Sync>) {
        let _ = self.when_built.set(f);
    }
}

impl Shared {
    /// Sets the runtime that this recorder belongs to.
    pub(crate) fn set_runtime(&self, handle: &Handle) {
        if self.runtime.is_known() {
            return;
        }
        // Registered first, as other threads take the runtime for registered from then on.
        runtimes::register(handle.id(), self.this());
        if self.runtime.id.set(handle.id()).is_ok() {
            self.runtime.workers.store(handle.metrics().num_workers(), Ordering::Relaxed);
            if let Some(name) = handle.name() {
                self.runtime.set_name(name);
            }
            // It has no threads to start, and its hooks may have nothing to report.
            if handle.runtime_flavor() == RuntimeFlavor::CurrentThread {
                self.runtime.is_hooked.store(true, Ordering::Relaxed);
                self.runtime_is_built();
            }
        }
    }

    /// Notes that the runtime has started its threads.
    pub(crate) fn runtime_is_built(&self) {
        if !self.runtime.is_built.swap(true, Ordering::Relaxed) {
            (self.when_built)(self);
            if let Some(f) = self.runtime.when_built.get() {
                f();
            }
        }
    }

    /// Notes that a thread of the runtime was started, as one of `threads`: perhaps the last worker.
    pub(super) fn runtime_may_be_built(&self, threads: u64) {
        if self.runtime.is_built() && self.runtime.is_known() {
            return;
        }
        let Ok(handle) = Handle::try_current() else { return };
        self.set_runtime(&handle);
        if threads >= handle.metrics().num_workers() as u64 {
            self.runtime_is_built();
        }
    }
}
