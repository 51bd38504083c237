//! Single polls of a timeline: their positions, how long they held their workers, and since when their tasks were
//! ready.

use std::num::NonZeroU64;

use crate::trace::state::TaskState;
use crate::trace::timeline::{Poll, Task, TaskKey, Timeline};

/// The position of a poll: the index of its task among those that were seen, and its index among the task's polls.
pub(super) type PollAt = (usize, usize);

/// Returns how long a poll held its worker, in ns; on a thread that is no worker, the time that it ran.
pub(super) fn length_ns(timeline: &Timeline, poll: &Poll) -> u64 {
    match poll.worker() {
        Some(_) => timeline.held_ns(poll),
        None => poll.length_ns(timeline.end_ns),
    }
}

/// Returns the time in which a poll held its worker: from and to, in ns.
pub(super) fn span_ns(timeline: &Timeline, at: PollAt) -> (u64, u64) {
    let poll = &timeline.tasks.seen()[at.0].polls[at.1];
    (poll.start_ns(), poll.start_ns().saturating_add(length_ns(timeline, poll)))
}

/// Returns since when `task` was ready for its poll number `index`, which may still be to come; `None` if that isn't
/// known.
#[inline(never)]
pub(super) fn ready_since(timeline: &Timeline, task: &Task, index: usize) -> Option<u64> {
    // A root future is in no run queue.
    if task.polls.is_empty() && matches!(task.key, TaskKey::Root(_)) {
        return None;
    }
    // A task is ready from its spawn on, whatever its first wake says, or from the left edge on if the spawn was before
    // it.
    let poll = task.polls.get(index);
    if index == 0 && task.first_state == TaskState::Spawned {
        let until_ns = poll.map_or(timeline.end_ns, Poll::start_ns);
        // It may have been polled in a period that isn't kept.
        return match timeline.is_dropped_between(task.first_ns, until_ns) {
            true => poll.and_then(Poll::ready_ns),
            false => Some(task.first_ns),
        };
    }
    match poll {
        Some(poll) => poll.ready_ns(),
        None if index == 0 && task.first_state == TaskState::Ready => Some(task.first_ns),
        None => task.ready_ns.map(NonZeroU64::get),
    }
}
