//! A task under construction.

use std::num::NonZeroU64;
use std::sync::Arc;

use crate::recorder::waits::names::NameId;
use crate::trace::event::SpawnLocation;
use crate::trace::state::TaskState;
use crate::trace::task_key::TaskKey;
use crate::trace::timeline::gaps::{self, Gap};
use crate::trace::timeline::poll::Poll;
use crate::trace::timeline::task::{CarriedWait, Task};
use crate::trace::wait_id::WaitId;

#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) location: Option<SpawnLocation>,
    pub(super) parent: Option<u64>,
    pub(super) spawned_ns: Option<u64>,
    /// The time of the last spawn: a root future's number is reused.
    pub(super) respawned_ns: Option<u64>,
    /// The time and thread of its termination.
    pub(super) terminated: Option<(u64, u32)>,
    pub(super) polls: Vec<Poll>,
    pub(super) name: Option<NameId>,
    /// For a task spawned earlier: the first time in ns at which it is known to be alive, where
    /// events become complete, and `true` if it had been polled.
    pub(super) carried: Option<(u64, bool)>,
    /// For a task spawned earlier: where it waited after its last poll before the events.
    pub(super) wait: Option<CarriedWait>,
    /// The start of the wait that it is in at the end, if that isn't the end of its last poll.
    pub(super) waits_since_ns: Option<NonZeroU64>,
}

impl Draft {
    /// Records a spawn.
    pub(super) fn spawn(
        &mut self,
        time_ns: u64,
        location: Option<SpawnLocation>,
        parent: Option<u64>,
    ) {
        // A root future's number is reused, and its row continues.
        self.spawned_ns = Some(self.spawned_ns.unwrap_or(time_ns).min(time_ns));
        if self.respawned_ns.is_none_or(|last| last <= time_ns) {
            self.respawned_ns = Some(time_ns);
            (self.location, self.parent) = (location, parent);
        }
    }

    /// Adds what other threads recorded about the same task.
    pub(super) fn add(&mut self, mut later: Self) {
        if later.respawned_ns.is_some() && later.respawned_ns >= self.respawned_ns {
            (self.location, self.parent) = (later.location, later.parent);
        } else if later.respawned_ns.is_none() {
            self.location = later.location.or(self.location);
            self.parent = later.parent.or(self.parent);
        }
        self.spawned_ns = match (self.spawned_ns, later.spawned_ns) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        self.respawned_ns = self.respawned_ns.max(later.respawned_ns);
        self.terminated = self.terminated.max(later.terminated);
        self.carried = earliest(self.carried, later.carried);
        self.name = self.name.or(later.name);
        self.wait = self.wait.or(later.wait);
        match self.polls.is_empty() {
            true => self.polls = later.polls,
            false => self.polls.append(&mut later.polls),
        }
    }

    /// Returns `true` if this is a task. `spawn_blocking` closures and the run loops of workers
    /// terminate without ever having been spawned or polled.
    pub(super) fn is_task(&self) -> bool {
        self.spawned_ns.is_some() || !self.polls.is_empty() || self.carried.is_some()
    }

    /// Finishes the waits, and forgets what is only recorded for them. With `sees_wakers`, a poll in which nothing
    /// cloned the task's waker gets the place where the task waited before, in the same window: a future that keeps its
    /// waker clones it once. The waits of a root future are recorded by its probe.
    pub(super) fn end_waits(
        &mut self,
        id: u64,
        sees_wakers: bool,
        (windows, recent_ns): (&[(u64, u64)], u64),
    ) {
        let carries = sees_wakers && !is_root(id);
        let terminated_ns = self.terminated.map(|(at, _)| at);
        let mut last = None;
        let mut before: Option<(usize, bool)> = None;
        order(&mut self.polls, sees_wakers);
        for poll in &mut self.polls {
            let start_ns = poll.start_ns();
            let window = windows.partition_point(|&(from, _)| from <= start_ns);
            let is_recent = start_ns >= recent_ns;
            if before.is_none_or(|before| before != (window, is_recent)) {
                // The polls in between aren't kept, but the place where the task waited after them is.
                let goes_on = is_recent && before.is_none_or(|(of, _)| of == window);
                last = self.wait.filter(|_| goes_on).and_then(|before| before.wait);
            }
            before = Some((window, is_recent));
            if poll.wait().is_some() || poll.is_cut_right() || !carries {
                last = poll.wait().filter(|wait| *wait != WaitId::ELSEWHERE);
            }
            let waits = poll.end_ns().is_some_and(|end| terminated_ns.is_none_or(|at| at > end));
            *poll = poll.waits_at(last.filter(|_| waits || !carries));
        }
    }

    /// Forgets where the task waited after polls that gaps follow: polls in the gap were dropped, so it isn't known when
    /// that wait ended. If the task waits since before the detail, that wait takes its place, as far as it is known.
    pub(super) fn end_waits_at_gaps(&mut self, gaps: &[Gap], recent_ns: u64) {
        let is_gap_between = |from_ns, to_ns: Option<u64>| {
            gaps::first_between(gaps, from_ns, to_ns.unwrap_or(u64::MAX)).is_some()
        };
        let terminated_ns = self.terminated.map(|(at, _)| at);
        for nth in 0..self.polls.len() {
            let Some(end_ns) = self.polls[nth].end_ns() else { continue };
            let next_ns = self.polls.get(nth + 1).map(Poll::start_ns).or(terminated_ns);
            if !is_gap_between(end_ns, next_ns) {
                continue;
            }
            let is_before_detail = end_ns < recent_ns
                && next_ns.is_none_or(|at| at >= recent_ns)
                && !is_gap_between(recent_ns, next_ns);
            let wait = match self.wait {
                _ if !is_before_detail => None,
                Some(wait) if wait.is_after(end_ns) => Some(wait),
                Some(_) => continue,
                None => Some(CarriedWait { since_ns: recent_ns, wait: None }),
            };
            let is_last = nth + 1 == self.polls.len();
            let wait = wait.filter(|_| is_last);
            self.waits_since_ns = wait.and_then(|wait| NonZeroU64::new(wait.since_ns));
            self.polls[nth] = self.polls[nth].waits_at(wait.and_then(|wait| wait.wait));
        }
    }

    /// Returns the finished task; `None` if this isn't a task.
    pub(super) fn finish(mut self, id: u64, begin_ns: u64, names: &[Arc<str>]) -> Option<Task> {
        if !self.is_task() {
            return None;
        }
        if is_root(id) {
            self.terminated = self.terminated.filter(|&(at, _)| Some(at) >= self.respawned_ns);
        }
        if let (Some((at, thread)), Some(last)) = (self.terminated, self.polls.last_mut()) {
            // A task isn't dropped on another thread before its poll is over. If it ended within
            // its poll, the poll is over, too, although its end may not have been recorded.
            let is_over = match last.end_ns() {
                Some(end) => last.thread() != thread && end > at,
                None => true,
            };
            if is_over {
                *last = last.ended(at.max(last.start_ns()));
            }
        }
        let first_poll = self.polls.first().copied();
        // The clocks of two threads may differ by some ns.
        let spawned_ns = self
            .spawned_ns
            .map(|spawned| first_poll.map_or(spawned, |poll| spawned.min(poll.start_ns())));
        let is_after = |at: u64| first_poll.is_none_or(|poll| poll.start_ns() >= at);
        let carried = self.carried.filter(|&(at, _)| is_after(at));
        let ran_at = |at| first_poll.is_some_and(|p| p.is_cut_left() && p.start_ns() <= at);
        let (first_ns, first_state) = match (spawned_ns, carried, first_poll) {
            (Some(spawned), ..) => (spawned, TaskState::Spawned),
            (_, Some((at, _)), _) if ran_at(at) => (at, TaskState::Running),
            (_, Some((at, true)), _) => (at, TaskState::Waiting),
            (_, Some((at, false)), _) => (at, TaskState::Spawned),
            (.., Some(poll)) => match poll.ready_ns() {
                Some(ready) if ready < poll.start_ns() => (ready.max(begin_ns), TaskState::Ready),
                _ => (poll.start_ns(), TaskState::Running),
            },
            (None, None, None) => return None,
        };
        let mut before = first_ns;
        for poll in &mut self.polls {
            *poll = poll.not_before(before);
            before = poll.end_ns().unwrap_or(poll.start_ns());
        }
        let is_waiting = self.polls.is_empty() && first_state == TaskState::Waiting;
        let carried_wait = self.wait.filter(|_| is_waiting);
        Some(Task {
            key: TaskKey::from_id(id),
            location: self.location,
            parent: self.parent.map(TaskKey::from_id),
            spawned_ns,
            first_ns,
            first_state,
            terminated_ns: self.terminated.map(|(at, _)| at.max(first_ns)),
            polls: self.polls,
            name: self.name.and_then(|name| names.get(name as usize).cloned()),
            carried_wait,
            waits_since_ns: self.waits_since_ns,
            ready_ns: None,
        })
    }
}

/// Returns the earlier of two times at which a task was alive.
pub(super) fn earliest(
    one: Option<(u64, bool)>,
    other: Option<(u64, bool)>,
) -> Option<(u64, bool)> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The maximum difference between the clocks of two threads, in ns.
const CLOCKS_DIFFER_NS: u64 = 1_000;

/// Orders the polls from different threads, and ends those that were over when the next one began.
///
/// A task can be polled elsewhere before the hook for the end of its poll runs, if it is woken by then and the thread
/// is off-CPU in between. That poll was over when the task was queued, which is when it became ready for the next one,
/// as Tokio measures it. If wakers are seen, the task may have been woken within that poll, so the poll is only known
/// to have been over when the next one began.
///
/// A poll that is still running sorts last, even if the clock of its thread is behind by
/// [`CLOCKS_DIFFER_NS`].
fn order(polls: &mut [Poll], sees_wakers: bool) {
    let key = |poll: &Poll| {
        let open_ns = if poll.end_ns().is_none() { CLOCKS_DIFFER_NS } else { 0 };
        (poll.start_ns().saturating_add(open_ns), poll.end_ns().is_none(), poll.end_ns())
    };
    // Most polls are in order already, and this check is faster than the sort.
    if polls.windows(2).any(|pair| key(&pair[0]) > key(&pair[1])) {
        crate::util::sort::by_key(polls, key);
    }
    for i in 1..polls.len() {
        let (poll, next) = (polls[i - 1], polls[i]);
        let is_over = poll.end_ns().is_none_or(|end| end > next.start_ns());
        if is_over && poll.start_ns() <= next.start_ns() {
            let ready_ns = next.ready_ns().filter(|_| !sees_wakers).unwrap_or(next.start_ns());
            polls[i - 1] = poll.ended(ready_ns.clamp(poll.start_ns(), next.start_ns()));
        }
    }
}

fn is_root(id: u64) -> bool {
    matches!(TaskKey::from_id(id), TaskKey::Root(_))
}
