//! Finds the task that used to end the waits at a line at which none ends any more, and where that task waits itself.

use std::fmt;

use super::awaited::Awaited;
use super::last_wait::waits_to_the_end;
use crate::analysis::waits::path::path_below;
use crate::analysis::waits::place_label;
use crate::trace::timeline::{Shutdown, TaskKey, Timeline, Wait, WaitId};
use crate::trace::woken_by::WokenBy;
use crate::util::clean::clean;
use crate::util::quantity::human;

/// The task that ended most waits at a line, the task that ended most waits at the line where the first one waits, and
/// so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::analysis) struct Chain {
    links: Vec<Link>,
    /// The task that ended most waits at the line of the last link, if it is itself a link.
    ends_in: Option<TaskKey>,
    /// `true` if the last link waits for a lock, a permit, or another link: nothing outside of the program ends such a
    /// wait.
    is_inside: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Link {
    task: TaskKey,
    /// The time that it has waited, in ns.
    waits_for_ns: u64,
    /// The lines at which it waits.
    at: String,
}

/// The most tasks that are named.
const MOST: usize = 4;

/// The least number of waits that one task must have ended.
const LEAST: u64 = 3;

impl Chain {
    /// Finds the task that ended most of these waits, which are at one line. `None` unless that task has itself waited
    /// for `long_ns` or longer.
    pub(in crate::analysis) fn find(
        timeline: &Timeline,
        shutdown: Shutdown,
        waits: &[(WaitId, &Wait)],
        long_ns: u64,
    ) -> Option<Self> {
        let mut chain = Self { links: Vec::new(), ends_in: None, is_inside: false };
        let set = WaitSet::new(timeline, waits.iter().map(|&(id, _)| id));
        let mut next = usual_waker(timeline, &set, None);
        while let Some(task) = next {
            if chain.links.iter().any(|link| link.task == task) {
                (chain.ends_in, chain.is_inside) = (Some(task), true);
                break;
            }
            if chain.links.len() == MOST {
                break;
            }
            let at_end = waits_to_the_end(timeline, shutdown, task);
            let Some((spot, wait)) = at_end.filter(|(spot, _)| spot.length_ns >= long_ns) else {
                // The task may be about to end one of these waits.
                chain.is_inside = false;
                break;
            };
            let at = match wait.frames.first().map(path_below) {
                Some(path) if path.contains(" > ") => path,
                _ => place_label(wait),
            };
            chain.links.push(Link { task, waits_for_ns: spot.length_ns, at });
            let awaited = Awaited::at(wait);
            chain.is_inside = matches!(awaited, Awaited::Lock | Awaited::Permit);
            if !chain.is_inside && awaited != Awaited::Task {
                break;
            }
            // Its own waits there count, if it had any: other tasks may be woken by others.
            let set = WaitSet::like(timeline, wait);
            next = usual_waker(timeline, &set, Some(task))
                .or_else(|| usual_waker(timeline, &set, None));
        }
        (!chain.links.is_empty()).then_some(chain)
    }
}

impl Chain {
    /// Returns whether nothing outside of the program can end the wait of the last link.
    pub(in crate::analysis) fn is_inside(&self) -> bool {
        self.is_inside
    }
}

/// Some of the waits of a timeline.
pub(in crate::analysis) struct WaitSet(Vec<bool>);

impl WaitSet {
    pub(in crate::analysis) fn new(timeline: &Timeline, ids: impl Iterator<Item = WaitId>) -> Self {
        let mut has = vec![false; timeline.places.waits.len()];
        for id in ids {
            if let Some(has) = has.get_mut(id.index()) {
                *has = true;
            }
        }
        Self(has)
    }

    /// Returns all waits at the line of this one.
    fn like(timeline: &Timeline, wait: &Wait) -> Self {
        let lines = wait.lines();
        let same = timeline.all_waits().filter(|(_, other)| other.lines() == lines);
        Self::new(timeline, same.map(|(id, _)| id))
    }

    pub(in crate::analysis) fn has(&self, wait: Option<WaitId>) -> bool {
        wait.and_then(|id| self.0.get(id.index())).is_some_and(|&has| has)
    }
}

/// Returns the task that ended most of these waits: those of all tasks, or only those of the task `of`. `None` if it
/// isn't known who ended at least half of them.
fn usual_waker(timeline: &Timeline, waits: &WaitSet, of: Option<TaskKey>) -> Option<TaskKey> {
    let tasks = timeline.tasks.seen();
    let mut by_task = vec![0_u64; tasks.len()];
    let (mut ended, mut known) = (0_u64, 0_u64);
    for task in tasks {
        if of.is_some_and(|only| only != task.key) {
            continue;
        }
        for pair in task.polls.windows(2) {
            if !waits.has(pair[0].wait()) {
                continue;
            }
            ended += 1;
            let Some(by) = pair[1].woken_by() else { continue };
            known += 1;
            if let WokenBy::Task(by) = by {
                if let Ok(index) = tasks.binary_search_by_key(&by, |task| task.key) {
                    by_task[index] += 1;
                }
            }
        }
    }
    // If several have the most, this is the first of them.
    let (index, &times) = by_task.iter().enumerate().rev().max_by_key(|&(_, times)| times)?;
    let task = tasks[index].key;
    (times >= LEAST && 2 * times > known && 2 * known >= ended).then_some(task)
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, Link { task, waits_for_ns, at }) in self.links.iter().enumerate() {
            let (waits_for, at) = (human(*waits_for_ns), clean(at));
            if nth == 0 {
                write!(
                    f,
                    "{task} ended most waits there, and waits itself, for {waits_for} now, at {at}."
                )?;
            } else {
                write!(f, " {task} ended most of those, and waits at {at}.")?;
            }
        }
        match self.ends_in {
            Some(task) if self.links.len() == 1 => write!(f, " {task} waits for itself."),
            Some(task) => write!(f, " {task} ended most of those: they wait for one another."),
            None => Ok(()),
        }
    }
}
