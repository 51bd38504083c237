//! What is known of a thread so far.

use std::collections::{BTreeMap, VecDeque};

use crate::recorder::id_map::IdMap;
use crate::trace::state::WorkerState;
use crate::trace::timeline::build::draft::Draft;
use crate::trace::timeline::cause::Readings;
use crate::trace::timeline::pool::OfPool;
use crate::trace::timeline::workers::Claim;
use crate::trace::timeline::{Poll, WaitId};

#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The window of its last event.
    pub(super) window: usize,
    /// How it was where windows begin, by their indices.
    pub(super) carried: VecDeque<(usize, Carried)>,
    /// The polls that it is in, the inner last.
    pub(super) polls: Vec<(u64, Poll)>,
    /// Those of tasks that terminated before the left edge: Tokio calls the hook of a poll's end
    /// after that of its task's termination, which may even be on another thread.
    pub(super) dead_polls: Vec<u64>,
    /// Where the task waits after the poll that ends next.
    pub(super) wait: Option<WaitId>,
    pub(super) worker: Option<(u32, WorkerState)>,
    pub(super) claims: Vec<Claim>,
    /// How many of these are of windows before.
    pub(super) claims_before: usize,
    /// When something last terminated outside of a poll: it may be the run loop of its worker.
    pub(super) run_ended_ns: Option<u64>,
    pub(super) started_ns: Option<u64>,
    pub(super) stopped_ns: Option<u64>,
    /// Whether it has done anything since it started.
    pub(super) is_used: bool,
    pub(super) parks: BTreeMap<u32, u64>,
    pub(super) readings: Option<Box<Readings>>,
    pub(super) of_pool: OfPool,
}

/// A thread, as it was where a window begins.
#[derive(Debug)]
pub(super) struct Carried {
    pub(super) at_ns: u64,
    pub(super) worker: Option<(u32, WorkerState)>,
    /// The polls that it was in, the inner last.
    pub(super) polls: Vec<CarriedPoll>,
}

/// A poll that went on where a window begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CarriedPoll {
    pub(crate) task: u64,
    pub(crate) start_ns: u64,
    /// Whether the task still lived.
    pub(crate) lives: bool,
}

impl Carried {
    /// Whether that poll went on.
    fn has(&self, task: u64, poll: &Poll) -> bool {
        let is_it = |carried: &CarriedPoll| {
            carried.task == task && carried.start_ns == poll.start_ns() && carried.lives
        };
        self.polls.iter().any(is_it) && !poll.is_cut_left()
    }
}

impl Thread {
    /// Goes on to the window of `time_ns`.
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
            // Recording stopped in between: a poll that was open then is known up to then.
            let stopped_ns = windows[self.window].1;
            let next = self.window + 1;
            let carried = self.carried.front().filter(|(of, _)| *of == next).map(|(_, c)| c);
            self.polls.retain(|(id, poll)| {
                // One that is known to have gone on until after the gap isn't cut.
                let goes_on = carried.is_some_and(|carried| carried.has(*id, poll));
                if !goes_on {
                    let poll = poll.cut_right(stopped_ns.max(poll.start_ns()));
                    tasks.entry(*id).or_default().polls.push(poll);
                }
                goes_on
            });
            // While a poll goes on, it was doing nothing else.
            if let (Some(readings), true) = (&mut self.readings, self.polls.is_empty()) {
                readings.interrupt();
            }
            // In the gap it may have lost its worker.
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

    /// Goes on as it was.
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

    /// When its window begins.
    pub(super) fn window_begin_ns(&self, windows: &[(u64, u64)]) -> u64 {
        windows.get(self.window).map_or(0, |window| window.0)
    }

    /// The poll that ends, which is `cut` if its start wasn't recorded; `None` of a task that had
    /// terminated before.
    pub(super) fn end_poll(&mut self, task_id: u64, cut: Poll) -> Option<Poll> {
        if self.dead_polls.contains(&task_id) {
            self.dead_polls.retain(|&id| id != task_id);
            return None;
        }
        let open = self.polls.iter().rposition(|&(id, _)| id == task_id);
        Some(open.map_or(cut, |place| self.polls.remove(place).1))
    }

    /// A task terminated here.
    pub(super) fn terminate_task(&mut self, time_ns: u64) {
        if self.polls.is_empty() {
            // It may be the run loop of a worker that goes on elsewhere: what this thread does next
            // as a worker is another claim.
            self.worker = None;
            self.run_ended_ns = Some(time_ns);
        }
    }

    /// The same as [`claim`](Self::claim), if it is a worker.
    pub(super) fn claim_of(
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

    /// Notes that it is `worker`, in `state` from `time_ns` on.
    pub(super) fn claim(&mut self, time_ns: u64, thread: u32, worker: u32, state: WorkerState) {
        if self.worker == Some((worker, state)) {
            return;
        }
        let mut claim = Claim { worker, time_ns, thread, state: WorkerState::Running };
        // A thread of the pool that did nothing before was started to be this worker.
        if let (Some(started_ns), false, true) =
            (self.started_ns, self.is_used, self.claims.is_empty())
        {
            claim.time_ns = started_ns;
            self.claims.push(claim);
        }
        let before = self.claims[self.claims_before..].last();
        if let Some(&before) = before.filter(|before| before.worker != worker) {
            // The pool gave the thread another worker's loop to run once that of this one ended, as
            // it does while a runtime shuts down that has just started.
            let time_ns = self.run_ended_ns.map_or(time_ns, |ended| ended.max(before.time_ns));
            self.claims.push(Claim { time_ns, state: WorkerState::Stopped, ..before });
        }
        self.worker = Some((worker, state));
        self.claims.push(Claim { time_ns, state, ..claim });
    }
}
