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
                let before = owner.replace(claim.thread);
                if let Some(before) = before.filter(|&before| before != claim.thread) {
                    if claim.state == WorkerState::Stopped {
                        // The worker moved to another thread before, so the end of this thread is
                        // not its end.
                        owner = Some(before);
                        continue;
                    }
                }
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
                parks: self.parks.get(&index).copied().unwrap_or(0),
            });
            if claims.iter().any(|claim| claim.thread != claims[0].thread) {
                moved.push((index, claims));
            }
        }
        (workers, handovers(&moved, tasks))
    }
}

/// The start of a stretch in which a thread acted as a worker, the thread, and the end of its poll.
type SeenAt = (u64, u32, u64);

/// Finds the times at which polls lost their worker: once another thread acts as the worker, in a
/// poll or a park, the poll is no longer on it. `moved` are the workers that were on several threads,
/// sorted by index.
fn handovers(moved: &[(u32, Vec<Claim>)], tasks: &[Task]) -> Vec<Handover> {
    // For each worker that was on several threads: time, thread, and the end of the poll.
    let mut seen: Vec<(u32, Vec<SeenAt>)> = Vec::new();
    for (worker, claims) in moved {
        let live = claims.iter().filter(|claim| claim.state != WorkerState::Stopped);
        seen.push((*worker, live.map(|claim| (claim.time_ns, claim.thread, 0)).collect()));
    }
    let polls = tasks.iter().flat_map(|task| &task.polls);
    for poll in polls.filter(|_| !moved.is_empty()) {
        let Some(worker) = poll.worker() else { continue };
        if let Ok(at) = seen.binary_search_by_key(&worker, |(worker, _)| *worker) {
            let end_ns = poll.end_ns().unwrap_or(u64::MAX);
            seen[at].1.push((poll.start_ns(), poll.thread(), end_ns));
        }
    }
    let mut handovers = Vec::new();
    for (worker, mut seen) in seen {
        crate::util::sort::sort(&mut seen);
        // The polls that hold the worker: one, except at the moment of a move.
        let mut holding: Vec<(u32, u64)> = Vec::new();
        for (time_ns, thread, end_ns) in seen {
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
