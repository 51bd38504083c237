//! The tasks that were dropped with their runtime.

use crate::trace::task_key::TaskKey;
use crate::trace::timeline::Timeline;
use crate::trace::timeline::task::Task;
use crate::trace::wait_id::WaitId;

/// The end of a runtime, from which on unfinished tasks are dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shutdown {
    /// The time at which the last root future ended; `None` if one is alive at the right edge, or
    /// none is known.
    from_ns: Option<u64>,
}

/// A wait that lasted until the runtime ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CutWait {
    pub(crate) since_ns: u64,
    /// The time at which the task was dropped.
    pub(crate) until_ns: u64,
    pub(crate) wait: Option<WaitId>,
}

impl CutWait {
    /// Returns the length of the wait, in ns.
    pub(crate) fn for_ns(&self) -> u64 {
        self.until_ns - self.since_ns
    }
}

impl Shutdown {
    pub(crate) fn from_timeline(timeline: &Timeline) -> Self {
        let mut from_ns = None;
        // All root futures are among these.
        for task in timeline.tasks.seen() {
            if matches!(task.key, TaskKey::Root(_)) {
                if task.terminated_ns.is_none() {
                    return Self { from_ns: None };
                }
                from_ns = from_ns.max(task.terminated_ns);
            }
        }
        Self { from_ns }
    }

    /// Returns the time in ns at which the last root future ended; `None` if one is alive at the
    /// right edge, or none is known.
    pub(crate) fn begins_ns(self) -> Option<u64> {
        self.from_ns
    }

    /// Returns the wait in which a spawned task was dropped with its runtime.
    #[inline(never)]
    pub(crate) fn cut_wait(&self, task: &Task) -> Option<CutWait> {
        let until_ns = task.terminated_ns?;
        let is_cut = matches!(task.key, TaskKey::Spawned(_)) && self.from_ns? <= until_ns;
        let (since_ns, wait) = (task.last_wait_since_ns()?, task.last_wait());
        // A task that ends within a poll ended by itself.
        (is_cut && since_ns < until_ns).then_some(CutWait { since_ns, until_ns, wait })
    }
}
