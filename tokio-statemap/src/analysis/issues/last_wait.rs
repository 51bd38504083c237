//! The wait in which a task is found at the end.

use super::spots::Spot;
use crate::trace::state::TaskState;
use crate::trace::timeline::{Shutdown, Task, Timeline, Waiting};

/// Returns the wait that a spawned task was in at the end, or in which it was dropped with its runtime.
pub(super) fn wait_to_the_end<'a>(
    timeline: &'a Timeline,
    shutdown: Shutdown,
    task: &Task,
) -> Option<(Spot, Waiting<'a>)> {
    if let Some(cut) = shutdown.cut_wait(task) {
        let spot = Spot { task: task.key, start_ns: cut.since_ns, length_ns: cut.for_ns() };
        return Some((spot, timeline.waiting(cut.wait)));
    }
    // A task that is ready waits for a worker only.
    if task.terminated_ns.is_some() || task.ready_ns.is_some() {
        return None;
    }
    let since_ns = match (task.polls.last(), task.carried_wait) {
        (Some(poll), _) => poll.end_ns()?,
        (None, Some(carried)) => carried.since_ns,
        (None, None) => (task.first_state == TaskState::Waiting).then_some(task.first_ns)?,
    };
    let length_ns = timeline.end_ns.saturating_sub(since_ns);
    let spot = Spot { task: task.key, start_ns: since_ns, length_ns };
    Some((spot, timeline.waiting_at_end(task)))
}
