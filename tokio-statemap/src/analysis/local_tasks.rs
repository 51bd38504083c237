//! The tasks of `LocalSet`s that wait at the end.

use std::fmt;

use super::waits::place_label;
use crate::trace::timeline::{Timeline, Waiting};
use crate::util::clean::clean;
use crate::util::quantity::{count, human};

/// The tasks of `LocalSet`s that wait at the end. `Display` writes it in two sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocalTasks {
    /// The number of these tasks.
    pub waiting: u64,
    /// The time for which one of them has waited longest, in ns.
    pub longest_ns: u64,
    /// The line at which that one waits: `src/shop.rs:17, Mutex::lock`. `None` if it isn't known.
    pub longest_at: Option<String>,
}

impl LocalTasks {
    /// Returns `None` if no such task is known to wait.
    pub(super) fn find(timeline: &Timeline) -> Option<Self> {
        let longest = timeline.local_tasks.iter().min_by_key(|task| task.waits_since_ns)?;
        Some(Self {
            waiting: timeline.local_tasks.len() as u64,
            longest_ns: timeline.end_ns.saturating_sub(longest.waits_since_ns),
            longest_at: match timeline.waiting_of_local(longest) {
                Waiting::At(wait) => Some(place_label(wait)).filter(|at| !at.is_empty()),
                Waiting::Nothing | Waiting::Unknown => None,
            },
        })
    }
}

impl fmt::Display for LocalTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tasks, longest) = (count(self.waiting, "task"), human(self.longest_ns));
        let which = if self.waiting == 1 { "" } else { "one of them " };
        write!(f, "{tasks} of a LocalSet waited at the end, {which}for {longest}")?;
        if let Some(at) = &self.longest_at {
            write!(f, " at {}", clean(at))?;
        }
        f.write_str(". The polls of such tasks are not recorded.")
    }
}
