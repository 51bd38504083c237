//! The recorded life of a task.

use std::num::NonZeroU64;
use std::sync::Arc;

use crate::trace::event::SpawnLocation;
use crate::trace::state::TaskState;
use crate::trace::task_key::TaskKey;
use crate::trace::timeline::poll::Poll;
use crate::trace::timeline::span::Span;
use crate::trace::wait_id::WaitId;

/// The recorded life of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Task {
    /// Identifies the task.
    pub key: TaskKey,
    /// The spawn location; for `main` the location of the function. `None` if the spawn was not
    /// recorded, or with `spawn_location = false`.
    pub location: Option<SpawnLocation>,
    /// The name given to it with [`task::Builder`](crate::task::Builder).
    pub name: Option<Arc<str>>,
    /// The task that spawned it; `None` if it was not spawned by a task, or if that is unknown.
    pub parent: Option<TaskKey>,
    /// The time of its spawn, in ns; `None` if that was before the left edge.
    pub spawned_ns: Option<u64>,
    /// The start of its row, in ns: its spawn, the left edge, or its first event.
    pub first_ns: u64,
    /// The state that its row starts in.
    pub first_state: TaskState,
    /// The time of its termination, in ns; `None` if it was alive at the right edge.
    pub terminated_ns: Option<u64>,
    /// Its polls in order; each starts no earlier than the previous one ended.
    pub polls: Vec<Poll>,
    /// The wait that it was in at the start of its row, if it waited then and has no polls.
    pub carried_wait: Option<CarriedWait>,
    /// The start of the wait that it was in at the end, in ns, if that isn't the end of its last poll: later polls were
    /// dropped.
    pub(crate) waits_since_ns: Option<NonZeroU64>,
    /// The time from which on it was ready for a poll that is cut off. Only a part of a timeline
    /// has it, as it is recorded with that poll.
    pub(crate) ready_ns: Option<NonZeroU64>,
}

/// A wait that began before the events that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CarriedWait {
    /// The start of the wait, in ns.
    pub since_ns: u64,
    pub(crate) wait: Option<WaitId>,
}

impl CarriedWait {
    /// Returns whether it began after the poll that ended then, and isn't the wait that followed that poll. What is
    /// remembered of a wait is never later than the poll's end, but may be a little earlier.
    pub(crate) fn is_after(self, end_ns: u64) -> bool {
        /// The clocks of two threads may differ by some ns.
        const SAME_NS: u64 = 1000;
        self.since_ns > end_ns.saturating_add(SAME_NS)
    }
}

impl Task {
    /// A task of a test, which was spawned at `first_ns`, and has these polls.
    #[cfg(test)]
    pub(crate) fn planted(key: TaskKey, first_ns: u64, polls: Vec<Poll>) -> Self {
        Self {
            key,
            location: None,
            name: None,
            parent: None,
            spawned_ns: Some(first_ns),
            first_ns,
            first_state: TaskState::Spawned,
            terminated_ns: None,
            polls,
            carried_wait: None,
            waits_since_ns: None,
            ready_ns: None,
        }
    }

    /// Iterates over the spans of its row, from [`first_ns`](Self::first_ns) to the right edge
    /// `end_ns`, without gaps between them. A span is empty if two events have the same time.
    pub fn spans(&self, end_ns: u64) -> impl Iterator<Item = Span<TaskState>> + '_ {
        let mut transitions = self.transitions();
        let mut next = transitions.next();
        std::iter::from_fn(move || {
            let (start_ns, state) = next?;
            next = transitions.next();
            let end_ns = next.map_or(end_ns.max(start_ns), |(next_ns, _)| next_ns);
            Some(Span { state, start_ns, end_ns })
        })
    }

    /// Returns since when it has waited, or waited last, in ns; `None` if it never did.
    pub(crate) fn last_wait_since_ns(&self) -> Option<u64> {
        match (self.waits_since_ns, self.polls.last()) {
            (None, Some(last)) => last.end_ns(),
            _ => self.carried_since_ns(),
        }
    }

    /// Returns the start of its last wait, in ns, if that isn't the end of a poll of its row.
    pub(crate) fn carried_since_ns(&self) -> Option<u64> {
        let carried = self.carried_wait.filter(|_| self.polls.is_empty());
        self.waits_since_ns.map(NonZeroU64::get).or(carried.map(|carried| carried.since_ns))
    }

    /// Returns where it waits, or waited last; `None` if that isn't known.
    pub(crate) fn last_wait(&self) -> Option<WaitId> {
        match self.polls.last() {
            Some(last) => last.wait(),
            None => self.carried_wait.and_then(|carried| carried.wait),
        }
    }

    /// Iterates over the state transitions: the time in ns, which never goes back, and the state
    /// from then on.
    pub fn transitions(&self) -> impl Iterator<Item = (u64, TaskState)> + '_ {
        // The first state, three of each poll, and two at the end.
        let mut steps = 0..self.polls.len() * 3 + 3;
        std::iter::from_fn(move || {
            loop {
                let transition = self.transition(steps.next()?);
                if transition.is_some() {
                    return transition;
                }
            }
        })
    }

    /// Returns the transition of a step, if there is one: the state that the row starts in, for each
    /// poll `ready`, `running` and `waiting`, then the last `ready` and `completed`.
    fn transition(&self, step: usize) -> Option<(u64, TaskState)> {
        let first = (self.first_ns, self.first_state);
        let Some(step) = step.checked_sub(1) else { return Some(first) };
        let (nth, kind) = (step / 3, step % 3);
        let Some(poll) = self.polls.get(nth) else {
            return match kind {
                0 => self.ready_ns.map(|at| (at.get(), TaskState::Ready)),
                _ => Some((self.completed_ns()?, TaskState::Completed)),
            };
        };
        let transition = match kind {
            // A task is ready from its spawn on; the state `spawned` implies it. A row that starts
            // with a poll doesn't show what was before.
            0 if nth == 0 && matches!(first.1, TaskState::Spawned | TaskState::Running) => {
                return None;
            }
            0 => (poll.ready_ns()?.max(self.first_ns), TaskState::Ready),
            1 => (poll.start_ns(), TaskState::Running),
            _ => {
                let end_ns = poll.end_ns();
                // If a task terminated in its last poll, the end of that poll is `completed`. A
                // task dropped with its runtime terminates while it waits.
                let is_last = nth + 1 == self.polls.len();
                let completes = is_last
                    && self.terminated_ns.is_some_and(|at| end_ns.is_none_or(|end| at <= end));
                return if completes { None } else { Some((end_ns?, TaskState::Waiting)) };
            }
        };
        // The row may start with the first poll.
        (nth > 0 || transition != first).then_some(transition)
    }

    /// Returns the time from which on it is completed, in ns.
    pub(crate) fn completed_ns(&self) -> Option<u64> {
        // Tokio calls the terminate hook within the last poll, just before its end.
        let last_ns = match self.polls.last() {
            Some(last) => last.end_ns().unwrap_or(last.start_ns()),
            None => self.first_ns,
        };
        let ready_ns = self.ready_ns.map_or(0, NonZeroU64::get);
        Some(self.terminated_ns?.max(last_ns).max(ready_ns))
    }
}
