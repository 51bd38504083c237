//! Single polls: how long they held their worker, and who had to wait meanwhile.

use std::num::NonZeroU64;

use super::place::Place;
use crate::trace::state::TaskState;
use crate::trace::timeline::{Poll, Task, TaskKey, Timeline};

/// A poll that took long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LongPoll {
    /// The task that was polled.
    pub task: TaskKey,
    /// Where the task was spawned.
    pub place: Place,
    /// When the poll started, in ns.
    pub start_ns: u64,
    /// How long it held its worker, in ns; on a thread that is no worker, how long it ran.
    pub length_ns: u64,
    /// The worker; `None` on a thread that is no worker.
    pub worker: Option<u32>,
    /// How many other tasks were ready meanwhile: woken or spawned, and not yet polled. This is the
    /// most at any one moment of it, so that those which other workers served one after the other
    /// don't add up. `None` if ready times were not recorded.
    pub ready_meanwhile: Option<u64>,
    /// Whether it still ran at the end.
    pub is_running: bool,
    /// Whether its start or end isn't known, so that it may have been longer.
    pub is_cut: bool,
}

/// How many of the longest polls a report lists.
pub(crate) const LONGEST_POLLS: usize = 10;

/// Which poll: the index of its task among those that were seen, and its own there.
pub(super) type PollAt = (usize, usize);

/// How long a poll held its worker; on a thread that is no worker, how long it ran.
pub(super) fn length_ns(timeline: &Timeline, poll: &Poll) -> u64 {
    match poll.worker() {
        Some(_) => timeline.held_ns(poll),
        None => poll.length_ns(timeline.end_ns),
    }
}

/// All that is said of a poll. `unpolled` tasks were ready all the time.
pub(super) fn describe(timeline: &Timeline, unpolled: u64, at: PollAt) -> LongPoll {
    let task = &timeline.tasks.seen()[at.0];
    let poll = &task.polls[at.1];
    let length_ns = length_ns(timeline, poll);
    let handed_over = timeline.handover_of(poll).is_some();
    let end_ns = poll.start_ns().saturating_add(length_ns);
    LongPoll {
        task: task.key,
        place: Place::of(task),
        start_ns: poll.start_ns(),
        length_ns,
        worker: poll.worker(),
        ready_meanwhile: timeline
            .schedule_latency
            .then(|| peak_ready(timeline, unpolled, at.0, poll.start_ns(), end_ns)),
        is_running: poll.end_ns().is_none() && !handed_over,
        is_cut: poll.is_cut_left() || (poll.is_cut_right() && !handed_over),
    }
}

/// Since when `task` was ready for its poll number `index`, which may be still to come; `None` if that
/// isn't known.
pub(super) fn ready_since(task: &Task, index: usize) -> Option<u64> {
    // A root future is not in any queue.
    if task.polls.is_empty() && matches!(task.key, TaskKey::Root(_)) {
        return None;
    }
    // A task is ready from its spawn on, whatever its first wake says; if that was before the left
    // edge, from there on.
    if index == 0 && task.first_state == TaskState::Spawned {
        return Some(task.first_ns);
    }
    match task.polls.get(index) {
        Some(poll) => poll.ready_ns(),
        None if index == 0 && task.first_state == TaskState::Ready => Some(task.first_ns),
        None => task.ready_ns.map(NonZeroU64::get),
    }
}

/// How many tasks, `except` not among them, were ready at the same moment from `start_ns` to
/// `end_ns`, at most. `unpolled` are those that were ready all the time.
fn peak_ready(
    timeline: &Timeline,
    unpolled: u64,
    except: usize,
    start_ns: u64,
    end_ns: u64,
) -> u64 {
    // When one more task was ready, and when one less.
    let mut steps: Vec<(u64, i64)> = Vec::new();
    for (index, task) in timeline.tasks.seen().iter().enumerate() {
        if index == except {
            continue;
        }
        ready_stretches(task, timeline.end_ns, start_ns, end_ns, |from, to| {
            let (from, to) = (from.max(start_ns), to.min(end_ns));
            if from < to {
                steps.extend([(from, 1), (to, -1)]);
            }
        });
    }
    // At the same time those that are served go first: they don't meet those that come.
    steps.sort_unstable();
    let mut ready = 0;
    let counts = steps.iter().map(|(_, step)| {
        ready += step;
        ready
    });
    unpolled + counts.max().unwrap_or_default().unsigned_abs()
}

/// Calls `found` with each stretch in which `task` was ready, as far as it may touch the time from
/// `start_ns` to `end_ns`.
fn ready_stretches(
    task: &Task,
    timeline_end_ns: u64,
    start_ns: u64,
    end_ns: u64,
    mut found: impl FnMut(u64, u64),
) {
    // Ready, and not polled any more.
    if let Some(since) = ready_since(task, task.polls.len()) {
        found(since, task.terminated_ns.unwrap_or(timeline_end_ns));
    }
    // A task is ready up to the start of each poll and not before the end of the last.
    let first = task.polls.partition_point(|poll| poll.start_ns() <= start_ns);
    for (index, poll) in task.polls.iter().enumerate().skip(first) {
        // On a thread that is no worker it doesn't wait for one.
        if let (Some(ready), Some(_)) = (ready_since(task, index), poll.worker()) {
            found(ready, poll.start_ns());
        }
        if poll.start_ns() >= end_ns {
            break;
        }
    }
}
