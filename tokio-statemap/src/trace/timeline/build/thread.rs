//! A thread under construction.

use std::collections::VecDeque;

use crate::recorder::id_map::IdMap;
use crate::trace::state::WorkerState;
use crate::trace::timeline::build::draft::Draft;
use crate::trace::timeline::cause::{Readings, ThreadKind};
use crate::trace::timeline::poll::Poll;
use crate::trace::timeline::pool::PoolObserver;
use crate::trace::timeline::workers::Claim;
use crate::trace::wait_id::WaitId;

#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The window of its last event.
    pub(super) window: usize,
    /// The states of the thread at the starts of windows, by window index.
    pub(super) carried: VecDeque<(usize, Carried)>,
    /// The polls in progress, the innermost last.
    pub(super) polls: Vec<(u64, Poll)>,
    /// The polls in progress of tasks that terminated before the left edge. Tokio calls the hook
    /// for the end of a poll after the one for its task's termination, which may even run on
    /// another thread.
    pub(super) dead_polls: Vec<u64>,
    /// The place where the task waits after the next poll that ends.
    pub(super) wait: Option<WaitId>,
    pub(super) worker: Option<(u32, WorkerState)>,
    pub(super) claims: Vec<Claim>,
    /// The number of claims from previous windows.
    pub(super) claims_before: usize,
    /// The last time at which something terminated outside of a poll, which may be the run loop of the thread's worker.
    pub(super) run_ended_ns: Option<u64>,
    pub(super) started_ns: Option<u64>,
    pub(super) stopped_ns: Option<u64>,
    /// `true` if it has polled anything.
    pub(super) has_polled: bool,
    /// `true` if it has done anything since it started.
    pub(super) is_used: bool,
    /// The number of parks as each worker.
    pub(super) parks: Vec<(u32, u64)>,
    pub(super) readings: Option<Box<Readings>>,
    pub(super) pool: PoolObserver,
}

/// The state of a thread at the start of a window.
#[derive(Debug)]
pub(super) struct Carried {
    pub(super) at_ns: u64,
    pub(super) worker: Option<(u32, WorkerState)>,
    /// The polls in progress, the innermost last.
    pub(super) polls: Vec<CarriedPoll>,
}

/// A poll in progress at the start of a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CarriedPoll {
    pub(crate) task: u64,
    pub(crate) start_ns: u64,
    /// `true` if the task was still alive.
    pub(crate) lives: bool,
}

impl Carried {
    /// Returns `true` if the poll was still in progress.
    fn has(&self, task: u64, poll: &Poll) -> bool {
        let is_it = |carried: &CarriedPoll| {
            carried.task == task && carried.start_ns == poll.start_ns() && carried.lives
        };
        self.polls.iter().any(is_it) && !poll.is_cut_left()
    }
}

impl Thread {
    /// Returns the kind of the thread, once all its events are known.
    pub(super) fn kind(&self) -> ThreadKind {
        // The start of a thread of the pool may be no longer kept.
        let is_of_pool =
            || self.started_ns.is_some() || !self.pool.seen.is_empty() || self.pool.ended > 1;
        match (self.claims.is_empty(), self.has_polled) {
            (false, _) => ThreadKind::Worker,
            (true, false) if is_of_pool() => ThreadKind::Pool,
            (true, _) => ThreadKind::Other,
        }
    }

    /// Advances to the window that holds `time_ns`.
    pub(super) fn enter_window(
        &mut self,
        number: u32,
        time_ns: u64,
        windows: &[(u64, u64)],
        tasks: &mut IdMap<Draft>,
    ) {
        while let Some(&(from, _)) = windows.get(self.window + 1) {
            if from > time_ns {
                break;
            }
            self.wait = None;
            // Recording stopped in between, so an open poll is known up to that time.
            let stopped_ns = windows[self.window].1;
            let next = self.window + 1;
            let carried = match self.carried.front() {
                Some((of, carried)) if *of == next => Some(carried),
                _ => None,
            };
            for (id, poll) in std::mem::take(&mut self.polls) {
                // A poll known to continue after the gap isn't cut.
                if carried.is_some_and(|carried| carried.has(id, &poll)) {
                    self.polls.push((id, poll));
                } else {
                    let poll = poll.cut_right(stopped_ns.max(poll.start_ns()));
                    tasks.entry(id).or_default().polls.push(poll);
                }
            }
            // A thread in a poll does nothing else.
            if let (Some(readings), true) = (&mut self.readings, self.polls.is_empty()) {
                readings.interrupt();
            }
            // It may have lost its worker during the gap.
            self.worker = None;
            self.claims_before = self.claims.len();
            self.window += 1;
            let window = self.window;
            if self.carried.front().is_some_and(|&(of, _)| of == window) {
                self.dead_polls.clear();
                if let Some((_, carried)) = self.carried.pop_front() {
                    self.carry(carried, number);
                }
            }
        }
    }

    /// Continues with the carried state.
    pub(super) fn carry(&mut self, carried: Carried, number: u32) {
        let at_ns = carried.at_ns;
        if let Some((worker, state)) = carried.worker {
            self.claim(at_ns, number, worker, state);
        }
        let worker = carried.worker.map(|(worker, _)| worker);
        for CarriedPoll { task, start_ns, lives } in carried.polls {
            let goes_on =
                self.polls.iter().any(|(id, open)| *id == task && open.start_ns() == start_ns);
            if !lives {
                self.dead_polls.push(task);
            } else if !goes_on {
                self.polls.push((task, Poll::open(at_ns, number, worker).cut_left()));
            }
        }
    }

    /// Returns the start of the current window, in ns.
    pub(super) fn window_begin_ns(&self, windows: &[(u64, u64)]) -> u64 {
        windows.get(self.window).map_or(0, |window| window.0)
    }

    /// Removes and returns the poll that ends, or `cut` if its start wasn't recorded. Returns
    /// `None` if the task had terminated before.
    pub(super) fn end_poll(&mut self, task_id: u64, cut: Poll) -> Option<Poll> {
        if self.dead_polls.contains(&task_id) {
            self.dead_polls.retain(|&id| id != task_id);
            return None;
        }
        let open = self.polls.iter().rposition(|&(id, _)| id == task_id);
        Some(open.map_or(cut, |place| self.polls.remove(place).1))
    }

    /// Records that a task terminated on this thread.
    pub(super) fn terminate_task(&mut self, time_ns: u64) {
        if self.polls.is_empty() {
            // This may be the run loop of a worker that continues elsewhere, so the thread's next action as a worker is
            // a new claim.
            self.worker = None;
            self.run_ended_ns = Some(time_ns);
        }
    }

    /// Calls [`claim`](Self::claim) if there is a worker.
    pub(super) fn claim_if_worker(
        &mut self,
        time_ns: u64,
        thread: u32,
        worker: Option<u32>,
        state: WorkerState,
    ) {
        if let Some(worker) = worker {
            self.claim(time_ns, thread, worker, state);
        }
    }

    /// Records that the thread acts as `worker`, in `state` from `time_ns` on.
    pub(super) fn claim(&mut self, time_ns: u64, thread: u32, worker: u32, state: WorkerState) {
        if self.worker == Some((worker, state)) {
            return;
        }
        let mut claim = Claim { worker, time_ns, thread, state: WorkerState::Running };
        // A pool thread that did nothing before was started to be this worker.
        if let (Some(started_ns), false, true) =
            (self.started_ns, self.is_used, self.claims.is_empty())
        {
            claim.time_ns = started_ns;
            self.claims.push(claim);
        }
        match self.claims[self.claims_before..].last() {
            Some(&before) if before.worker != worker => {
                // After the run loop of one worker ended, the pool gave the thread the run loop of another. This
                // happens when a runtime shuts down right after its start.
                let time_ns = self.run_ended_ns.map_or(time_ns, |ended| ended.max(before.time_ns));
                self.claims.push(Claim { time_ns, state: WorkerState::Stopped, ..before });
            }
            _ => {}
        }
        self.worker = Some((worker, state));
        self.claims.push(Claim { time_ns, state, ..claim });
    }
}
