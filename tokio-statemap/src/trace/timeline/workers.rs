//! The assignment of workers to threads over time, and the states of the workers.

use crate::trace::state::WorkerState;
use crate::trace::timeline::task::Task;
use crate::trace::timeline::worker::{Handover, Worker};
use crate::util::map::Map;

/// A thread acted as a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Claim {
    pub(crate) worker: u32,
    pub(crate) time_ns: u64,
    pub(crate) thread: u32,
    pub(crate) state: WorkerState,
}

#[derive(Debug, Default)]
pub(crate) struct WorkersBuilder {
    claims: Map<u32, Vec<Claim>>,
    parks: Map<u32, u64>,
}

impl WorkersBuilder {
    /// Adds the claims of one thread, in order.
    pub(crate) fn add(&mut self, claims: Vec<Claim>, parks: Vec<(u32, u64)>) {
        for claim in claims {
            self.claims.get_or_default(claim.worker).push(claim);
        }
        for (worker, parks) in parks {
            *self.parks.get_or_default(worker) += parks;
        }
    }

    /// Returns the workers, and the times at which `block_in_place` moved them to another thread.
    pub(crate) fn finish(self, tasks: &[Task]) -> (Vec<Worker>, Vec<Handover>) {
        let mut moved = Vec::new();
        let mut workers = Vec::new();
        for (index, mut claims) in self.claims.into_sorted() {
            // The sort is stable: the claims of one thread stay in order.
            crate::util::sort::by_key(&mut claims, |claim| claim.time_ns);
            let mut transitions: Vec<(u64, WorkerState)> = Vec::new();
            let mut owner = None;
            for claim in &claims {
                if claim.state == WorkerState::Stopped && owner.is_some_and(|of| of != claim.thread)
                {
                    // The worker moved to another thread before, so the end of this thread is
                    // not its end.
                    continue;
                }
                owner = Some(claim.thread);
                // A worker that acts again had not stopped.
                if transitions.last().is_some_and(|&(_, state)| state == WorkerState::Stopped) {
                    transitions.pop();
                }
                if transitions.last().is_none_or(|&(_, state)| state != claim.state) {
                    transitions.push((claim.time_ns, claim.state));
                }
            }
            workers.push(Worker {
                index,
                transitions,
                parks: *self.parks.get(&index).unwrap_or(&0),
            });
            if claims.iter().any(|claim| claim.thread != claims[0].thread) {
                moved.push((index, claims));
            }
        }
        (workers, handovers(&moved, tasks))
    }
}

/// A worker, the start of a stretch in which a thread acted as it, the thread, and the end of its poll.
type SeenAt = (u32, u64, u32, u64);

/// Finds the times at which polls lost their worker: once another thread acts as the worker, in a
/// poll or a park, the poll is no longer on it. `moved` are the workers that were on several threads,
/// sorted by index.
fn handovers(moved: &[(u32, Vec<Claim>)], tasks: &[Task]) -> Vec<Handover> {
    if moved.is_empty() {
        return Vec::new();
    }
    let mut all: Vec<SeenAt> = Vec::new();
    for (worker, claims) in moved {
        for claim in claims {
            if claim.state != WorkerState::Stopped {
                all.push((*worker, claim.time_ns, claim.thread, 0));
            }
        }
    }
    for task in tasks {
        for poll in &task.polls {
            let Some(worker) = poll.worker() else { continue };
            if moved.binary_search_by_key(&worker, |(worker, _)| *worker).is_ok() {
                let end_ns = poll.end_ns().unwrap_or(u64::MAX);
                all.push((worker, poll.start_ns(), poll.thread(), end_ns));
            }
        }
    }
    crate::util::sort::sort(&mut all);
    let mut handovers = Vec::new();
    for seen in all.chunk_by(|a, b| a.0 == b.0) {
        // The polls that hold the worker: one, except at the moment of a move.
        let mut holding: Vec<(u32, u64)> = Vec::new();
        for &(worker, time_ns, thread, end_ns) in seen {
            holding.retain(|&(holder, until_ns)| {
                let moves = holder != thread && until_ns > time_ns;
                if moves {
                    handovers.push(Handover { thread: holder, time_ns, worker });
                }
                until_ns > time_ns && !moves
            });
            if end_ns > time_ns {
                holding.push((thread, end_ns));
            }
        }
    }
    crate::util::sort::sort(&mut handovers);
    handovers
}
