//! Single polls: how long they held their worker.

use std::num::NonZeroU64;

use super::blame::Blame;
use super::harm::Delay;
use super::own::own_ns;
use super::place::Place;
use crate::trace::state::TaskState;
use crate::trace::timeline::{Poll, StackFrame, Task, TaskKey, Timeline};

/// A poll that took long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LongPoll {
    /// The task that was polled.
    pub task: TaskKey,
    /// Where the task was spawned.
    pub place: Place,
    /// The function to blame for it: see [`Culprit::frame`](super::Culprit::frame).
    pub frame: Option<StackFrame>,
    /// When the poll started, in ns.
    pub start_ns: u64,
    /// How long it took by its own doing, in ns: without what the machine took, and without waits for locks of the
    /// runtime's. This is what polls are ranked by. Where the poll isn't kept that isn't known, and it is all of it.
    pub own_ns: u64,
    /// How long it held its worker, in ns, by the wall clock; on a thread that is no worker, how long it ran.
    pub length_ns: u64,
    /// The worker; `None` on a thread that is no worker.
    pub worker: Option<u32>,
    /// How others were delayed meanwhile.
    pub delay: Delay,
    /// Whether it still ran at the end.
    pub is_running: bool,
    /// Whether its start or end isn't known, so that it may have been longer.
    pub is_cut: bool,
    /// Whether it is kept in detail. If not, what it did and how others were delayed isn't known.
    pub is_kept: bool,
}

/// How many of the longest polls a report lists.
pub(crate) const LONGEST_POLLS: usize = 10;

/// Which poll: the index of its task among those that were seen, and its own there.
pub(super) type PollAt = (usize, usize);

/// What refers to the timeline that a report is of, such as where polls are in it. It is no part of what the
/// report says: read from files, the same timeline may have them elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unsaid<T>(pub(super) T);

impl<T> PartialEq for Unsaid<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> std::ops::Deref for Unsaid<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// How long a poll held its worker; on a thread that is no worker, how long it ran.
pub(super) fn length_ns(timeline: &Timeline, poll: &Poll) -> u64 {
    match poll.worker() {
        Some(_) => timeline.held_ns(poll),
        None => poll.length_ns(timeline.end_ns),
    }
}

/// All that is said of a poll, by which others were delayed so.
pub(super) fn describe(timeline: &Timeline, at: PollAt, delay: Delay) -> LongPoll {
    let task = &timeline.tasks.seen()[at.0];
    let poll = &task.polls[at.1];
    let length_ns = length_ns(timeline, poll);
    let handed_over = timeline.handover_of(poll).is_some();
    LongPoll {
        task: task.key,
        place: Place::of(task),
        frame: Blame::of(timeline, poll).and_then(|blame| blame.frames.heaviest().cloned()),
        start_ns: poll.start_ns(),
        own_ns: own_ns(timeline, poll),
        length_ns,
        worker: poll.worker(),
        delay,
        is_running: poll.end_ns().is_none() && !handed_over,
        is_cut: poll.is_cut_left() || (poll.is_cut_right() && !handed_over),
        is_kept: true,
    }
}

/// From when to when a poll held its worker, in ns.
pub(super) fn time(timeline: &Timeline, at: PollAt) -> (u64, u64) {
    let poll = &timeline.tasks.seen()[at.0].polls[at.1];
    (poll.start_ns(), poll.start_ns().saturating_add(length_ns(timeline, poll)))
}

/// Since when `task` was ready for its poll number `index`, which may be still to come; `None` if that
/// isn't known.
pub(super) fn ready_since(timeline: &Timeline, task: &Task, index: usize) -> Option<u64> {
    // A root future is not in any queue.
    if task.polls.is_empty() && matches!(task.key, TaskKey::Root(_)) {
        return None;
    }
    // A task is ready from its spawn on, whatever its first wake says; if that was before the left
    // edge, from there on.
    let poll = task.polls.get(index);
    if index == 0 && task.first_state == TaskState::Spawned {
        let until_ns = poll.map_or(timeline.end_ns, Poll::start_ns);
        // It may have been polled where nothing is kept.
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
