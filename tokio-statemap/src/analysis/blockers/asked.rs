//! The task that others asked before they began to wait for answers: nothing proves that it owes them one, but each woke it.

use std::fmt;

use super::last_wait::waits_to_the_end;
use crate::analysis::spots::Spot;
use crate::analysis::waits::path_label;
use crate::trace::timeline::{Shutdown, TaskKey, Timeline};
use crate::trace::woken_by::WokenBy;
use crate::util::clean::clean;

/// The task that most of several tasks woke in their last polls, after which they wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::analysis) struct Asked {
    task: TaskKey,
    /// The number of tasks that woke it.
    by: u64,
    /// The number of waiting tasks that were looked at.
    of: u64,
    /// The number of all tasks that wait.
    all: u64,
    /// The lines at which it waits; `None` if it doesn't, or if they aren't known.
    at: Option<String>,
}

/// The least number of tasks that must have woken it.
const LEAST: usize = 2;

impl Asked {
    /// Finds the task that most of the `waiting` tasks woke. They are those of `all` that have waited longest. `None` if there is no
    /// such task, or more than one.
    pub(in crate::analysis) fn find(
        timeline: &Timeline,
        shutdown: Shutdown,
        (waiting, all): (&[Spot], u64),
    ) -> Option<Self> {
        // Each with its last poll, in the order of tasks.
        let mut last_polls: Vec<(TaskKey, u64, u64)> = Vec::new();
        for spot in waiting {
            let task = timeline.tasks.at(timeline.tasks.position(spot.task)?);
            let Some(last) = task.polls.last() else { continue };
            last_polls.push((task.key, last.start_ns(), spot.start_ns));
        }
        crate::util::sort::sort(&mut last_polls);
        let (mut most, mut is_tie) = (None, false);
        let mut most_by = 0;
        for task in timeline.tasks.seen() {
            let mut by: Vec<TaskKey> = Vec::new();
            for poll in &task.polls {
                let (Some(WokenBy::Task(waker)), Some(ready_ns)) =
                    (poll.woken_by(), poll.ready_ns())
                else {
                    continue;
                };
                let of = last_polls.binary_search_by_key(&waker, |&(key, ..)| key);
                let Ok((_, from_ns, to_ns)) = of.map(|nth| last_polls[nth]) else { continue };
                if (from_ns..=to_ns).contains(&ready_ns) && !by.contains(&waker) {
                    by.push(waker);
                }
            }
            if by.len() >= most_by {
                is_tie = by.len() == most_by;
                (most, most_by) = (Some(task.key), by.len());
            }
        }
        if most_by < LEAST || is_tie || 2 * most_by <= last_polls.len() {
            return None;
        }
        let task = most?;
        let wait = waits_to_the_end(timeline, shutdown, task);
        let at = wait.map(|(_, wait)| path_label(wait)).filter(|at| !at.is_empty());
        Some(Self { task, by: most_by as u64, of: last_polls.len() as u64, all, at })
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, by, of, all, at } = self;
        match (by == of, of == all) {
            (true, true) => write!(f, "Before they waited, each of them woke {task}")?,
            (false, true) => write!(f, "Before they waited, {by} of these {of} woke {task}")?,
            (_, false) => {
                write!(f, "Before they waited, {by} of the {of} that waited longest woke {task}")?;
            }
        }
        match at {
            Some(at) => write!(f, ", which waits at {}.", clean(at)),
            None => f.write_str("."),
        }
    }
}
