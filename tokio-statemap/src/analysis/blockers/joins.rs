//! Finds a task that waits for the end of a task that waits for what the former may hold.

use std::fmt;

use super::awaited::Awaited;
use super::last_wait::{LastWaits, wait_to_the_end};
use super::wait_set::WaitSet;
use crate::analysis::waits::path_label;
use crate::trace::timeline::{Shutdown, TaskKey, Timeline, Wait, WaitId};
use crate::util::clean::clean;
use crate::util::map::Map;

/// A task that waits for the end of tasks that it spawned. All of these wait at one line, and other tasks wait there as well. If the
/// task holds what is awaited at that line, they wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::analysis) struct Joins {
    task: TaskKey,
    /// The lines at which it waits.
    at: String,
    /// The first of those that it spawned, and the number of the others.
    spawned: TaskKey,
    others: u64,
}

impl Joins {
    /// Finds the task for the waits `all` at a line, at which no wait has ended for `long_ns` or more, nor since the task began to
    /// wait: while it holds a lock, no other task gets it. `None` if there are several, as where each request has a task of its
    /// own, or if it spawned all those that wait there.
    pub(in crate::analysis) fn find(
        last: &LastWaits<'_>,
        shutdown: Shutdown,
        all: &[(WaitId, &Wait)],
        long_ns: u64,
    ) -> Option<Self> {
        let timeline = last.timeline();
        let is_at = WaitSet::new(timeline, all.iter().map(|&(id, _)| id));
        let ended_ns = last_end_ns(timeline, &is_at);
        let mut joining: Map<TaskKey, (&Wait, Vec<TaskKey>)> = Map::default();
        for (wait, spots) in last.long(long_ns).filter(|(wait, _)| Awaited::is_for_ends(wait)) {
            for spot in spots.iter().filter(|spot| Some(spot.start_ns) >= ended_ns) {
                joining.insert(spot.task, (wait, Vec::new()));
            }
        }
        if joining.len() == 0 {
            return None;
        }
        let mut has_strangers = false;
        let mut elsewhere: Map<TaskKey, ()> = Map::default();
        for task in timeline.tasks.one_by_one() {
            let waits = wait_to_the_end(timeline, shutdown, &task).is_some();
            if !waits && task.terminated_ns.is_some() {
                continue;
            }
            let waits_there = waits && is_at.has(task.polls.last().and_then(|last| last.wait()));
            let parent = task.parent.filter(|parent| matches!(parent, TaskKey::Spawned(_)));
            match parent.and_then(|parent| Some((parent, joining.get_mut(&parent)?))) {
                Some((_, (_, children))) if waits_there => children.push(task.key),
                Some((parent, _)) => elsewhere.insert(parent, ()),
                None => has_strangers |= waits_there,
            }
        }
        let mut found = None;
        for (&task, (wait, children)) in joining.iter() {
            let Some(&spawned) = children.first() else { continue };
            if elsewhere.get(&task).is_some() {
                continue;
            }
            if found.is_some() {
                return None;
            }
            let others = children.len() as u64 - 1;
            found = Some(Self { task, at: path_label(wait), spawned, others });
        }
        found.filter(|_| has_strangers)
    }
}

/// Returns when a task went on after one of these waits for the last time, as far as polls are kept.
fn last_end_ns(timeline: &Timeline, waits: &WaitSet) -> Option<u64> {
    let mut ended_ns = None;
    for task in timeline.tasks.seen() {
        for pair in task.polls.windows(2) {
            if waits.has(pair[0].wait()) {
                ended_ns = ended_ns.max(Some(pair[1].start_ns()));
            }
        }
    }
    ended_ns
}

impl fmt::Display for Joins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, at, spawned, others } = self;
        let (whom, are) = match others {
            0 => (spawned.to_string(), "is"),
            1 => (format!("{spawned} and another task"), "are"),
            n => (format!("{spawned} and {n} other tasks"), "are"),
        };
        write!(
            f,
            "{task} may hold it: it waits at {}, for the end of {whom}, which it spawned, and which {are} among those that wait.",
            clean(at)
        )
    }
}
