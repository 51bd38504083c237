//! The tasks that a task spawned and that still live, for a task that waits until others end.

use std::cmp::Reverse;
use std::fmt;

use super::last_wait::{LastWaits, waits_to_the_end};
use super::{Awaited, wait_to_the_end};
use crate::analysis::spots::Spot;
use crate::analysis::waits::path_label;
use crate::trace::timeline::{Shutdown, TaskKey};
use crate::util::clean::clean;

/// The tasks that a task spawned which waits until others end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::analysis) struct StillThere {
    by: TaskKey,
    /// The number of those that wait at the end.
    waiting: u64,
    /// The number of the others that live.
    others: u64,
    /// The lines at which they wait, each with their number, the most first.
    at: Vec<(String, u64)>,
}

/// The most lines that are named.
const MOST: usize = 2;

impl StillThere {
    /// Finds those that the task spawned. `None` if it waits for something else, or if none of them waits at a known line.
    pub(in crate::analysis) fn find(
        last: &LastWaits<'_>,
        shutdown: Shutdown,
        by: TaskKey,
    ) -> Option<Self> {
        let timeline = last.timeline();
        let (_, wait) = waits_to_the_end(timeline, shutdown, by)?;
        if !Awaited::is_for_ends(wait) {
            return None;
        }
        let mut found = Self { by, waiting: 0, others: 0, at: Vec::new() };
        let mut children = Vec::new();
        for task in timeline.tasks.one_by_one() {
            if task.parent != Some(by) {
                continue;
            }
            match wait_to_the_end(timeline, shutdown, &task) {
                Some(_) => children.push(task.key),
                None => found.others += u64::from(task.terminated_ns.is_none()),
            }
        }
        crate::util::sort::sort(&mut children);
        for (wait, spots) in last.long(0) {
            let is_child = |spot: &&Spot| children.binary_search(&spot.task).is_ok();
            let waiting = spots.iter().filter(is_child).count() as u64;
            if waiting == 0 {
                continue;
            }
            let at = path_label(wait);
            match found.at.iter_mut().find(|(known, _)| *known == at) {
                Some((_, number)) => *number += waiting,
                None => found.at.push((at, waiting)),
            }
        }
        found.waiting = children.len() as u64;
        crate::util::sort::by_key(&mut found.at, |(at, tasks)| (Reverse(*tasks), at.clone()));
        (!found.at.is_empty()).then_some(found)
    }
}

impl fmt::Display for StillThere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { by, waiting, others, at } = self;
        let wait = if *waiting == 1 { "waits" } else { "wait" };
        write!(f, "Of the tasks that {by} spawned, {waiting} still {wait}")?;
        for (nth, (at, of)) in at.iter().take(MOST).enumerate() {
            match (nth, of == waiting) {
                (0, true) => write!(f, " at {}", clean(at))?,
                (0, false) => write!(f, ": {of} at {}", clean(at))?,
                _ => write!(f, ", {of} at {}", clean(at))?,
            }
        }
        match others {
            0 => f.write_str("."),
            1 => f.write_str("; another one lives, too."),
            n => write!(f, "; {n} others live, too."),
        }
    }
}
