//! The tasks that a task spawned and that still live, for a task that waits until others end.

use std::cmp::Reverse;
use std::fmt;

use super::last_wait::{LastWaits, waits_to_the_end};
use super::{Awaited, wait_to_the_end};
use crate::analysis::spots::Spot;
use crate::analysis::waits::path::path_of_several;
use crate::analysis::waits::place_label;
use crate::trace::timeline::{Shutdown, TaskKey};
use crate::util::clean::clean;
use crate::util::quantity::count;

/// The tasks that a task spawned which waits until others end, and that wait themselves at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::analysis) struct StillThere {
    by: TaskKey,
    tasks: u64,
    /// The lines at which they wait, each with their number, the most first.
    at: Vec<(String, u64)>,
}

/// The most lines that are named.
const MOST: usize = 2;

impl StillThere {
    /// Finds those that the task spawned. `None` if it waits for something else, or if there are none.
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
        let mut found = Self { by, tasks: 0, at: Vec::new() };
        let mut children = Vec::new();
        for task in timeline.tasks.one_by_one() {
            if task.parent == Some(by) && wait_to_the_end(timeline, shutdown, &task).is_some() {
                children.push(task.key);
            }
        }
        crate::util::sort::sort(&mut children);
        for (wait, spots) in last.long(0) {
            let is_child = |spot: &&Spot| children.binary_search(&spot.task).is_ok();
            let waiting = spots.iter().filter(is_child).count() as u64;
            if waiting > 0 {
                let path = wait.frames.first().and_then(path_of_several);
                found.at.push((path.unwrap_or_else(|| place_label(wait)), waiting));
            }
        }
        found.tasks = children.len() as u64;
        crate::util::sort::by_key(&mut found.at, |(at, tasks)| (Reverse(*tasks), at.clone()));
        (!found.at.is_empty()).then_some(found)
    }
}

impl fmt::Display for StillThere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { by, tasks, at } = self;
        let (lived, wait) = if *tasks == 1 { ("lives", "waits") } else { ("live", "wait") };
        write!(f, "Of the tasks that {by} spawned, {} still {lived}", count(*tasks, "task"))?;
        for (nth, (at, of)) in at.iter().take(MOST).enumerate() {
            match (nth, of == tasks) {
                (0, true) => write!(f, " and {wait} at {}", clean(at))?,
                (0, false) => write!(f, ": {of} at {}", clean(at))?,
                _ => write!(f, ", {of} at {}", clean(at))?,
            }
        }
        f.write_str(".")
    }
}
