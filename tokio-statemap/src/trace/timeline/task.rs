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
    /// The time from which on it was ready for a poll that is cut off. Only a part of a timeline
    /// has it, as Tokio reports it with that poll.
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

impl Task {
    /// Iterates over the spans of its row, from [`first_ns`](Self::first_ns) to the right edge
    /// `end_ns`, without gaps between them. A span is empty if two events have the same time.
    pub fn spans(&self, end_ns: u64) -> impl Iterator<Item = Span<TaskState>> + '_ {
        let mut transitions = self.transitions().peekable();
        std::iter::from_fn(move || {
            let (start_ns, state) = transitions.next()?;
            let end_ns = transitions.peek().map_or_else(|| end_ns.max(start_ns), |&(next, _)| next);
            Some(Span { state, start_ns, end_ns })
        })
    }

    /// Iterates over the state transitions: the time in ns, which never goes back, and the state
    /// from then on.
    pub fn transitions(&self) -> impl Iterator<Item = (u64, TaskState)> + '_ {
        let ended = self.terminated_ns.map(|terminated| {
            // Tokio calls the terminate hook within the last poll, just before its end.
            let last =
                self.polls.last().map_or(self.first_ns, |p| p.end_ns().unwrap_or(p.start_ns()));
            let ready = self.ready_ns.map_or(0, NonZeroU64::get);
            (terminated.max(last).max(ready), TaskState::Completed)
        });
        let first = (self.first_ns, self.first_state);
        let polls = self.polls.iter().enumerate().flat_map(move |(i, poll)| {
            // A task is ready from its spawn on; the state `spawned` implies it. A row that starts
            // with a poll doesn't show what was before.
            let ready = poll
                .ready_ns()
                .filter(|_| {
                    i > 0 || !matches!(self.first_state, TaskState::Spawned | TaskState::Running)
                })
                .map(|at| (at.max(self.first_ns), TaskState::Ready));
            let running = Some((poll.start_ns(), TaskState::Running));
            // If a task terminated in its last poll, the end of that poll is `completed`. A task
            // dropped with its runtime terminates while it waits.
            let completes = i + 1 == self.polls.len()
                && self.terminated_ns.is_some_and(|at| poll.end_ns().is_none_or(|end| at <= end));
            let waiting = poll.end_ns().filter(|_| !completes).map(|at| (at, TaskState::Waiting));
            // The row may start with the first poll.
            let is_new = move |transition: &(u64, TaskState)| i > 0 || *transition != first;
            let [ready, running] = [ready, running].map(|transition| transition.filter(is_new));
            [ready, running, waiting].into_iter().flatten()
        });
        let ready = self.ready_ns.map(|at| (at.get(), TaskState::Ready));
        std::iter::once(first).chain(polls).chain(ready).chain(ended)
    }
}
