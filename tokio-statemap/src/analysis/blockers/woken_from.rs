//! Tells by who ended earlier waits at a place whether they end from outside of the program.
//!
//! The functions of a library say little of what they wait for: in an optimised build, `axum::serve` waits in a function called
//! `poll`.

use crate::trace::timeline::{Shutdown, Task, Timeline};
use crate::trace::woken_by::WokenBy;

/// For each place, the number of waits that ended, and the number of these that the runtime ended.
pub(in crate::analysis) struct WokenFrom(Vec<(u64, u64)>);

impl WokenFrom {
    pub(in crate::analysis) fn new(timeline: &Timeline) -> Self {
        let mut ended = vec![(0, 0); timeline.places.waits.len()];
        for task in timeline.tasks.seen() {
            for pair in task.polls.windows(2) {
                let Some(at) = pair[0].wait().and_then(|wait| ended.get_mut(wait.index())) else {
                    continue;
                };
                at.0 += 1;
                at.1 += u64::from(pair[1].woken_by() == Some(WokenBy::Runtime));
            }
        }
        Self(ended)
    }

    /// Returns whether the runtime, for which timers and I/O wake tasks, ended most waits at the place where a task waited to
    /// the end. Tasks that yield are woken by it, too, but that happens seldom.
    pub(in crate::analysis) fn is_outside(&self, shutdown: Shutdown, task: &Task) -> bool {
        let wait = shutdown.cut_wait(task).map_or_else(|| task.last_wait(), |cut| cut.wait);
        let ended = wait.and_then(|wait| self.0.get(wait.index()));
        ended.is_some_and(|&(all, by_runtime)| by_runtime > all / 2)
    }
}
