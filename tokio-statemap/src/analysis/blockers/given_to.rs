//! Finds the task that may have been given a lock for a future that it doesn't poll any more.
//!
//! A task that awaits several futures at once (`select!`) may wait for a lock in one of them, leave that future unpolled, and
//! wait for the same lock in another one. If the lock is given to the first, nobody lets go of it.

use std::fmt;

use super::last_wait::waits_to_the_end;
use super::woken_by::WaitSet;
use crate::analysis::waits::{is_lock, line_of};
use crate::trace::timeline::{Shutdown, Task, TaskKey, Timeline, Wait};
use crate::trace::woken_by::WokenBy;
use crate::util::quantity::moment;

/// A task that waited for a lock beside other things, then for that lock alone, and that waits on though it was woken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GivenTo {
    task: TaskKey,
    by: TaskKey,
    /// When it was woken, in ns since the start.
    at_ns: u64,
}

impl GivenTo {
    /// Finds the task that may have the lock for which `queued` waits, if there is only one that has waited for `long_ns`.
    pub(in crate::analysis) fn find(
        timeline: &Timeline,
        shutdown: Shutdown,
        queued: &Wait,
        long_ns: u64,
    ) -> Option<Self> {
        let [line] = queued.lines()[..] else { return None };
        if !is_lock(line_of(line).1) {
            return None;
        }
        let alone = WaitSet::like(timeline, queued);
        let is_beside_others = |wait: &Wait| {
            let lines = wait.lines();
            lines.len() > 1 && lines.contains(&line)
        };
        let all = timeline.all_waits().filter(|(_, wait)| is_beside_others(wait));
        let beside_others = WaitSet::new(timeline, all.map(|(id, _)| id));
        let mut found = None;
        for task in timeline.tasks.seen() {
            let Some(by) = woken_in_vain(task, &alone, &beside_others) else { continue };
            let waits = waits_to_the_end(timeline, shutdown, task.key);
            if waits.is_some_and(|(spot, _)| spot.length_ns >= long_ns)
                && found.replace(by).is_some()
            {
                return None;
            }
        }
        found
    }
}

/// Returns the last wake of a task, if another task woke it while it waited there alone, and it has waited there ever since. Before
/// that, it waited there beside others.
fn woken_in_vain(task: &Task, alone: &WaitSet, beside_others: &WaitSet) -> Option<GivenTo> {
    let [before @ .., waiting, last] = &task.polls[..] else { return None };
    if !alone.has(last.wait()) || waiting.wait() != last.wait() {
        return None;
    }
    let WokenBy::Task(by) = last.woken_by()? else { return None };
    let waited_twice = before.iter().any(|poll| beside_others.has(poll.wait()));
    (by != task.key && waited_twice).then_some(GivenTo {
        task: task.key,
        by,
        at_ns: last.ready_ns()?,
    })
}

impl fmt::Display for GivenTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, by, at_ns } = self;
        write!(
            f,
            "{task} waited there in two futures, one after the other. {by} woke it at {}, but it waits there still: it may hold \
             the lock in the first future, if it doesn't poll that any more.",
            moment(*at_ns)
        )
    }
}
