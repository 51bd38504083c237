//! Finds who gave something back that others waited for.

use super::woken_by::WaitSet;
use crate::analysis::waits::{awaited_module, line_of};
use crate::trace::timeline::{Poll, TaskKey, Timeline, Wait};
use crate::trace::woken_by::WokenBy;

/// The module of Tokio's mutex.
pub(super) const MUTEX: &str = "tokio::sync::mutex";

/// Returns the module of what is awaited at the first line of a wait.
pub(super) fn first_module(wait: &Wait) -> Option<&str> {
    line_of(wait.lines().first().copied()?).1.map(awaited_module)
}

/// Returns all waits for something of this module.
pub(super) fn waits_for(timeline: &Timeline, module: &str) -> WaitSet {
    let all = timeline.all_waits().filter(|(_, wait)| first_module(wait) == Some(module));
    WaitSet::new(timeline, all.map(|(id, _)| id))
}

/// Returns whether a task ended a wait for any mutex after it got the one that tasks in `queued` wait for, or, if it didn't wait for
/// that one, in its last poll. A task that has two mutexes and gives one of them back counts, too.
pub(super) fn has_given_back(timeline: &Timeline, queued: &Wait, task: TaskKey) -> bool {
    if first_module(queued) != Some(MUTEX) {
        return false;
    }
    let tasks = timeline.tasks.seen();
    let Ok(index) = tasks.binary_search_by_key(&task, |task| task.key) else { return false };
    let polls = &tasks[index].polls;
    let at_line = WaitSet::like(timeline, queued);
    let got = polls.windows(2).rev().find(|pair| at_line.has(pair[0].wait()));
    let Some(since) = got.map(|pair| &pair[1]).or(polls.last()) else { return false };
    let mutexes = waits_for(timeline, MUTEX);
    let is_by_it = |pair: &[Poll]| {
        mutexes.has(pair[0].wait())
            && pair[1].woken_by() == Some(WokenBy::Task(task))
            && pair[1].ready_ns().is_some_and(|at_ns| at_ns >= since.start_ns())
    };
    tasks.iter().any(|task| task.polls.windows(2).any(is_by_it))
}

/// Returns the time at which each task last ended one of these waits, in ns: 0 if it ended none. `None` if it isn't known who ended one
/// since then.
pub(super) fn last_releases(
    timeline: &Timeline,
    waits: &WaitSet,
    since_ns: u64,
) -> Option<Vec<u64>> {
    let tasks = timeline.tasks.seen();
    let mut released = vec![0; tasks.len()];
    for pair in tasks.iter().flat_map(|task| task.polls.windows(2)) {
        if !waits.has(pair[0].wait()) {
            continue;
        }
        let at_ns = pair[1].ready_ns()?;
        if at_ns < since_ns {
            continue;
        }
        match pair[1].woken_by()? {
            WokenBy::Task(by) => {
                let index = tasks.binary_search_by_key(&by, |task| task.key).ok()?;
                released[index] = at_ns.max(released[index]);
            }
            // A timeout.
            WokenBy::Runtime => {}
            // Whoever passed it on to a thread may have given it back there.
            _ => return None,
        }
    }
    Some(released)
}
