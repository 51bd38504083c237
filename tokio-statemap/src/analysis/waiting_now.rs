//! Counts the tasks that wait at each line at the right edge.

use std::cmp::Reverse;

use crate::symbols::StackFrame;
use crate::trace::state::TaskState;
use crate::trace::timeline::{TaskKey, Timeline, Waiting};
use crate::util::map::Map;

/// The tasks that wait at a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WaitingAt {
    /// The function and the line; `None` for all tasks whose line isn't known.
    pub(crate) at: Option<StackFrame>,
    /// The function awaited there; `None` if that is `at` itself.
    pub(crate) awaits: Option<StackFrame>,
    pub(crate) tasks: u64,
    /// The time for which one of them has waited longest, as far as that is known, in ns.
    pub(crate) longest_ns: u64,
}

/// Returns the lines at which tasks wait at the right edge. Of a task that waits for several things at once, the first line counts.
/// Root futures are left out.
pub(crate) fn waiting_now(timeline: &Timeline) -> Vec<WaitingAt> {
    // There may be a million tasks at few places.
    let mut places: Map<_, (Waiting<'_>, u64, u64)> = Map::default();
    let mut add = |waiting, since_ns| {
        let place = match waiting {
            Waiting::At(wait) => Some(std::ptr::from_ref(wait)),
            _ => None,
        };
        let (_, tasks, longest_ns) = places.get_or_insert_with(place, || (waiting, 0, 0));
        *tasks += 1;
        *longest_ns = timeline.end_ns.saturating_sub(since_ns).max(*longest_ns);
    };
    for task in timeline.tasks.one_by_one() {
        let (state, since_ns, _) = timeline.state_at_end(&task);
        let is_root = matches!(task.key, TaskKey::Root(_));
        if state == TaskState::Waiting && task.terminated_ns.is_none() && !is_root {
            add(timeline.waiting_at_end(&task), since_ns);
        }
    }
    for task in &timeline.local_tasks {
        add(timeline.waiting_of_local(task), task.waits_since_ns);
    }
    let mut all = Vec::new();
    for (_, &(waiting, tasks, longest_ns)) in places.iter() {
        let line = match waiting {
            Waiting::At(wait) => wait.lines().first().copied(),
            _ => None,
        };
        let at = line.map(|line| line.at.clone());
        let awaits = line.and_then(|line| line.awaits.cloned());
        all.push(WaitingAt { at, awaits, tasks, longest_ns });
    }
    crate::util::sort::by_key(&mut all, |line| Reverse((line.tasks, line.longest_ns)));
    all
}
