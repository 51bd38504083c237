//! The effects of the machine on the program while it was recorded.

mod steal;
mod throttling;

use crate::recorder::clock::Clock;
use crate::recorder::machine::steal::StealCounts;
pub use crate::recorder::machine::throttling::CpuLimit;
use crate::recorder::machine::throttling::ThrottlingSoFar;
use crate::sys::cgroup;
use crate::sys::sync::Mutex;
use crate::util::sync::lock;

/// The time that the CPU limit and the host of a virtual machine took from the program so far.
#[derive(Debug)]
pub(crate) struct Machine {
    throttling: Mutex<ThrottlingSoFar>,
    /// The time that the host took; `None` if it isn't counted.
    steal: Option<Mutex<StealCounts>>,
}

impl Machine {
    pub(crate) fn new(counts_steal: bool) -> Self {
        Self { throttling: Mutex::default(), steal: counts_steal.then(Mutex::default) }
    }

    /// Reads the CPU limit as recording is started.
    pub(crate) fn start(&self) {
        lock(&self.throttling).start(cgroup::limit());
    }

    /// Reads the CPU limit as recording is stopped.
    pub(crate) fn stop(&self) {
        lock(&self.throttling).stop(cgroup::limit());
    }

    /// Returns what the CPU limit did so far; `None` if there is none.
    pub(crate) fn cpu_limit(&self) -> Option<CpuLimit> {
        lock(&self.throttling).until(cgroup::limit())
    }

    /// Notes the time that the host has taken so far, if the kernel counts it.
    pub(crate) fn note_steal(&self, clock: &Clock) {
        if let Some(steal) = &self.steal {
            // Read under the lock, so that the counts are in order.
            lock(steal).note(clock);
        }
    }

    /// Notes it if it was noted last long ago.
    pub(crate) fn note_steal_if_due(&self, clock: &Clock) {
        if let Some(steal) = &self.steal {
            lock(steal).note_if_due(clock);
        }
    }

    /// Returns the noted counts, by time in ticks.
    pub(crate) fn steal_counts(&self) -> Vec<(u64, u64)> {
        self.steal.as_ref().map(|steal| lock(steal).all().to_vec()).unwrap_or_default()
    }
}
