//! Who used to end the waits at a line at which none ends any more, and where that waits itself.

use std::fmt;

use super::last_wait::wait_to_the_end;
use super::spots::Spot;
use crate::analysis::waits::path::path_below;
use crate::analysis::waits::place_label;
use crate::trace::timeline::{Shutdown, TaskKey, Timeline, Wait, WaitId, Waiting};
use crate::trace::woken_by::WokenBy;
use crate::util::clean::clean;
use crate::util::map::Map;
use crate::util::quantity::human;

/// The tasks that ended most waits: that of a line, that of the line at which this one waits itself, and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    links: Vec<Link>,
    /// The task that ended most waits at the line of the last one, if it is one of them.
    ends_in: Option<TaskKey>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Link {
    task: TaskKey,
    /// For how long it waits, in ns.
    waits_for_ns: u64,
    /// Where.
    at: String,
}

/// The most tasks that are named.
const MOST: usize = 4;

/// So many waits must have ended by one task.
const LEAST: u64 = 3;

impl Chain {
    /// Finds who ended most of these waits, which are at one line. `None` unless that task waits itself.
    pub(super) fn find(
        timeline: &Timeline,
        shutdown: Shutdown,
        waits: &[(WaitId, &Wait)],
    ) -> Option<Self> {
        let mut chain = Self { links: Vec::new(), ends_in: None };
        let mut set = WaitSet::new(timeline, waits.iter().map(|&(id, _)| id));
        while let Some(task) = usual_waker(timeline, &set) {
            if chain.links.iter().any(|link| link.task == task) {
                chain.ends_in = Some(task);
                break;
            }
            if chain.links.len() == MOST {
                break;
            }
            let Some((spot, wait)) = waits_to_the_end(timeline, shutdown, task) else { break };
            let path = wait.frames.first().map(path_below);
            let label = place_label(wait);
            let at = match path {
                Some(path) if path.contains(" > ") => path,
                _ => label,
            };
            chain.links.push(Link { task, waits_for_ns: spot.length_ns, at });
            set = WaitSet::like(timeline, wait);
        }
        (!chain.links.is_empty()).then_some(chain)
    }
}

/// Returns since when a task waits, and where, if it does so at the end.
fn waits_to_the_end(
    timeline: &Timeline,
    shutdown: Shutdown,
    task: TaskKey,
) -> Option<(Spot, &Wait)> {
    let task = timeline.tasks.at(timeline.tasks.position(task)?);
    match wait_to_the_end(timeline, shutdown, &task)? {
        (spot, Waiting::At(wait)) => Some((spot, wait)),
        _ => None,
    }
}

/// Some of the waits of a timeline.
pub(super) struct WaitSet(Vec<bool>);

impl WaitSet {
    pub(super) fn new(timeline: &Timeline, ids: impl Iterator<Item = WaitId>) -> Self {
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

    pub(super) fn has(&self, wait: Option<WaitId>) -> bool {
        wait.and_then(|id| self.0.get(id.index())).is_some_and(|&has| has)
    }
}

/// Returns the task that ended half of these waits or more, as far as it is known who did.
fn usual_waker(timeline: &Timeline, waits: &WaitSet) -> Option<TaskKey> {
    let mut by_task: Map<TaskKey, u64> = Map::default();
    let mut known = 0;
    for task in timeline.tasks.seen() {
        for pair in task.polls.windows(2) {
            if !waits.has(pair[0].wait()) {
                continue;
            }
            let Some(by) = pair[1].woken_by() else { continue };
            known += 1;
            if let WokenBy::Task(by) = by {
                *by_task.get_or_default(by) += 1;
            }
        }
    }
    let mut most: Option<(TaskKey, u64)> = None;
    for (&task, &times) in by_task.iter() {
        if most.is_none_or(|(other, most)| (times, other) > (most, task)) {
            most = Some((task, times));
        }
    }
    let (task, times) = most?;
    (times >= LEAST && 2 * times >= known).then_some(task)
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
