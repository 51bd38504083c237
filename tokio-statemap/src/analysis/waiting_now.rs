//! Counts the tasks that wait at each line at the right edge.

use std::cmp::Reverse;

use crate::symbols::StackFrame;
use crate::trace::state::TaskState;
use crate::trace::timeline::{Timeline, Waiting};
use crate::util::map::Map;

/// The tasks that wait at a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WaitingAt {
    /// The function and the line; `None` for all tasks whose line isn't known.
    pub(crate) at: Option<StackFrame>,
    /// The function awaited there; `None` if that is `at` itself.
    pub(crate) awaits: Option<StackFrame>,
    pub(crate) tasks: u64,
    /// How long the first of them has waited, in ns.
    pub(crate) longest_ns: u64,
}

/// Returns the lines at which tasks wait at the right edge, that with the most tasks first. Of a task that waits for several
/// things at once, the first line counts.
pub(crate) fn waiting_now(timeline: &Timeline) -> Vec<WaitingAt> {
    let mut lines: Map<_, (u64, u64)> = Map::default();
    for task in timeline.tasks.one_by_one() {
        let (state, since_ns, _) = timeline.state_at_end(&task);
        if state != TaskState::Waiting || task.terminated_ns.is_some() {
            continue;
        }
        let line = match timeline.waiting_at_end(&task) {
            Waiting::At(wait) => wait.lines().first().copied(),
            _ => None,
        };
        let (tasks, longest_ns) = lines.get_or_default(line);
        *tasks += 1;
        *longest_ns = timeline.end_ns.saturating_sub(since_ns).max(*longest_ns);
    }
    let mut all = Vec::new();
    for (&line, &(tasks, longest_ns)) in lines.iter() {
        let at = line.map(|line| line.at.clone());
        let awaits = line.and_then(|line| line.awaits.cloned());
        all.push(WaitingAt { at, awaits, tasks, longest_ns });
    }
    crate::util::sort::by_key(&mut all, |line| Reverse((line.tasks, line.longest_ns)));
    all
}
