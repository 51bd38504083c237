//! Finds who gave something back that others waited for.

use super::wait_set::WaitSet;
use crate::analysis::waits::{MUTEX, awaited_module, line_of};
use crate::trace::timeline::{TaskKey, Timeline, Wait};
use crate::trace::woken_by::WokenBy;

/// Returns the module of what is awaited at the first line of a wait.
pub(super) fn first_module(wait: &Wait) -> Option<&str> {
    line_of(wait.lines().first().copied()?).1.map(awaited_module)
}

/// Returns all waits for something of this module.
pub(super) fn waits_for(timeline: &Timeline, module: &str) -> WaitSet {
    let all = timeline.all_waits().filter(|(_, wait)| first_module(wait) == Some(module));
    WaitSet::new(timeline, all.map(|(id, _)| id))
}

/// The times at which tasks gave mutexes back.
pub(in crate::analysis) struct GivenBack {
    /// By each task: the last time at which it woke one that may have waited for a mutex, in ns; 0 if it woke none.
    by_task: Vec<u64>,
    until_ns: u64,
}

impl GivenBack {
    /// Looks at what tasks did up to this time.
    pub(super) fn until(timeline: &Timeline, until_ns: u64) -> Self {
        let may_be: Vec<bool> = timeline.places.waits.iter().map(may_be_for_mutex).collect();
        let tasks = timeline.tasks.seen();
        let mut by_task = vec![0; tasks.len()];
        for pair in tasks.iter().flat_map(|task| task.polls.windows(2)) {
            let (Some(WokenBy::Task(by)), Some(at_ns)) = (pair[1].woken_by(), pair[1].ready_ns())
            else {
                continue;
            };
            let is_known_for_other =
                pair[0].wait().and_then(|id| may_be.get(id.index())) == Some(&false);
            if at_ns > until_ns || is_known_for_other {
                continue;
            }
            if let Ok(index) = tasks.binary_search_by_key(&by, |task| task.key) {
                by_task[index] = at_ns.max(by_task[index]);
            }
        }
        Self { by_task, until_ns }
    }

    /// Returns when the task of this index last gave one back, in ns; 0 if it gave none back.
    pub(super) fn last_ns(&self, index: usize) -> u64 {
        self.by_task[index]
    }

    /// Returns whether a task gave a mutex back after it got the one that others wait for `at_line`, or, if it didn't wait for that one,
    /// in its last poll. A task that has two mutexes and gives one of them back counts, too.
    pub(super) fn is_by(&self, timeline: &Timeline, at_line: &WaitSet, task: TaskKey) -> bool {
        let tasks = timeline.tasks.seen();
        let Ok(index) = tasks.binary_search_by_key(&task, |task| task.key) else { return false };
        let polls = &tasks[index].polls;
        let polls = &polls[..polls.partition_point(|poll| poll.start_ns() <= self.until_ns)];
        let got = polls.windows(2).rev().find(|pair| at_line.has(pair[0].wait()));
        let since = got.map(|pair| &pair[1]).or(polls.last());
        since.is_some_and(|since| self.by_task[index] >= since.start_ns())
    }
}

/// Returns whether a task in this wait may wait for a mutex: at one of its lines, or at a line at which not all is known. Of a wait with
/// a timeout only that is known.
fn may_be_for_mutex(wait: &Wait) -> bool {
    let lines = wait.lines();
    let mut may_be = lines.is_empty();
    for line in lines {
        may_be |= line_of(line).1.is_none_or(|awaits| {
            awaited_module(awaits) == MUTEX || awaits.contains("tokio::time::timeout")
        });
    }
    may_be
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
