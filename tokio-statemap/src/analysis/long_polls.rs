//! The long polls that a report lists.

use super::blame::Blame;
use super::delay::Delay;
use super::own_time::own_ns;
use super::place::Place;
use super::poll::{PollAt, length_ns};
use super::spelling::Spelling;
use crate::trace::timeline::{StackFrame, TaskKey, Timeline};

/// A poll that took long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LongPoll {
    /// The task that was polled.
    pub task: TaskKey,
    /// The place where the task was spawned.
    pub place: Place,
    /// The function to blame for it: see [`Culprit::frame`](super::Culprit::frame).
    pub frame: Option<StackFrame>,
    /// The time at which the poll started, in ns.
    pub start_ns: u64,
    /// The poll's own time, in ns: without the time that the machine took, and without waits for locks of the
    /// runtime's. Polls are ranked by it. For a poll that isn't kept, it is the whole length, as the own time isn't
    /// known.
    pub own_ns: u64,
    /// The time that the poll held its worker, in ns of wall time; on a thread that is no worker, the time that it ran.
    pub length_ns: u64,
    /// The worker; `None` on a thread that is no worker.
    pub worker: Option<u32>,
    /// The delay of other tasks during the poll.
    pub delay: Delay,
    /// `true` if the poll still ran at the end.
    pub is_running: bool,
    /// `true` if the poll's start or end isn't known, so that it may have been longer.
    pub is_cut: bool,
    /// `true` if the poll is kept in detail. If not, it isn't known what it did and how others were delayed.
    pub is_kept: bool,
}

/// The number of polls that a report lists.
pub(crate) const LONGEST_POLLS: usize = 10;

/// Positions in the timeline of a report. They are left out of comparisons: the same run, read from files, may have its
/// tasks in another order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NotCompared<T>(pub(super) T);

impl<T> PartialEq for NotCompared<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> std::ops::Deref for NotCompared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Describes a poll that delayed others by `delay`.
pub(super) fn describe(
    timeline: &Timeline,
    spelling: &Spelling,
    at: PollAt,
    delay: Delay,
) -> LongPoll {
    let task = &timeline.tasks.seen()[at.0];
    let poll = &task.polls[at.1];
    let handed_over = timeline.handover_of(poll).is_some();
    LongPoll {
        task: task.key,
        place: spelling.place(task),
        frame: Blame::from_samples(timeline, poll)
            .and_then(|blame| blame.frames.heaviest().cloned()),
        start_ns: poll.start_ns(),
        own_ns: own_ns(timeline, poll),
        length_ns: length_ns(timeline, poll),
        worker: poll.worker(),
        delay,
        is_running: poll.end_ns().is_none() && !handed_over,
        is_cut: poll.is_cut_left() || (poll.is_cut_right() && !handed_over),
        is_kept: true,
    }
}
