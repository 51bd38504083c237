//! Finds the task that was woken last for what others wait for in vain, if it waits there again.
//!
//! Most likely it was given the lock for a future that it doesn't poll any more, such as another branch of a `select!`. So
//! it can't let go of it.

use std::fmt;

use super::last_wait::waits_to_the_end;
use super::woken_by::WaitSet;
use crate::trace::timeline::{Shutdown, TaskKey, Timeline, Wait};
use crate::trace::woken_by::WokenBy;
use crate::util::quantity::moment;

/// The task that was woken last in a wait at a line, and waits at that line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HandedTo {
    task: TaskKey,
    by: TaskKey,
    /// When it was woken, in ns since the start.
    at_ns: u64,
}

impl HandedTo {
    /// Finds it among the tasks that were polled in what is kept.
    pub(in crate::analysis) fn find(
        timeline: &Timeline,
        shutdown: Shutdown,
        queued: &Wait,
    ) -> Option<Self> {
        let set = WaitSet::like(timeline, queued);
        let mut last: Option<Self> = None;
        for task in timeline.tasks.seen() {
            for pair in task.polls.windows(2) {
                let (true, Some(WokenBy::Task(by)), Some(at_ns)) =
                    (set.has(pair[0].wait()), pair[1].woken_by(), pair[1].ready_ns())
                else {
                    continue;
                };
                if by != task.key && last.as_ref().is_none_or(|last| at_ns > last.at_ns) {
                    last = Some(Self { task: task.key, by, at_ns });
                }
            }
        }
        let last = last?;
        let (_, waits) = waits_to_the_end(timeline, shutdown, last.task)?;
        (waits.lines() == queued.lines()).then_some(last)
    }
}

impl fmt::Display for HandedTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, by, at_ns } = self;
        write!(
            f,
            "{task} was the last that was woken for it, by {by} at {}, and waits there again: it may have been given it for a \
             future that it doesn't poll any more.",
            moment(*at_ns)
        )
    }
}
