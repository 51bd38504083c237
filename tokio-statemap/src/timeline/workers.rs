//! Which thread was which worker when, and what that worker did.

use std::collections::{BTreeMap, BTreeSet};

use crate::state::WorkerState;
use crate::timeline::{Handover, Task, Worker};

/// A thread did something as a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Claim {
    pub(crate) worker: u32,
    pub(crate) time_ns: u64,
    pub(crate) thread: u32,
    pub(crate) state: WorkerState,
}

#[derive(Debug, Default)]
pub(crate) struct WorkersBuilder {
    claims: BTreeMap<u32, Vec<Claim>>,
    parks: BTreeMap<u32, u64>,
}

impl WorkersBuilder {
    /// Adds what one thread did, in its order.
    pub(crate) fn add(&mut self, claims: Vec<Claim>, parks: BTreeMap<u32, u64>) {
        for claim in claims {
            self.claims.entry(claim.worker).or_default().push(claim);
        }
        for (worker, parks) in parks {
            *self.parks.entry(worker).or_default() += parks;
        }
    }

    /// The workers, and where `block_in_place` moved them to another thread.
    pub(crate) fn finish(self, tasks: &[Task]) -> (Vec<Worker>, Vec<Handover>) {
        let mut moves = Vec::new();
        let mut workers = Vec::new();
        for (index, mut claims) in self.claims {
            // Stable: what one thread did stays in its order.
            claims.sort_by_key(|claim| claim.time_ns);
            let mut transitions: Vec<(u64, WorkerState)> = Vec::new();
            let mut owner = None;
            for claim in claims {
                let before = owner
                    .replace(claim.thread)
                    .filter(|&before| before != claim.thread);
                if let Some(before) = before {
                    if claim.state == WorkerState::Stopped {
                        // Its thread went on without it: that one's end is not the worker's.
                        owner = Some(before);
                        continue;
                    }
                    moves.push(Handover {
                        thread: before,
                        time_ns: claim.time_ns,
                        worker: index,
                    });
                }
                if transitions
                    .last()
                    .is_none_or(|&(_, state)| state != claim.state)
                {
                    transitions.push((claim.time_ns, claim.state));
                }
            }
            workers.push(Worker {
                index,
                transitions,
                parks: self.parks.get(&index).copied().unwrap_or(0),
            });
        }
        (workers, during_polls(moves, tasks))
    }
}

/// Those of `moves` that happened while the thread was in a poll. The others are no
/// `block_in_place`, but say two threads that are in `block_on` of a `current_thread` runtime in
/// turn.
fn during_polls(mut moves: Vec<Handover>, tasks: &[Task]) -> Vec<Handover> {
    if moves.is_empty() {
        return moves;
    }
    let threads: BTreeSet<u32> = moves.iter().map(|handover| handover.thread).collect();
    let polls = tasks.iter().flat_map(|task| &task.polls);
    let mut polls: Vec<(u32, u64, u64)> = polls
        .filter(|poll| threads.contains(&poll.thread()) && poll.worker().is_some())
        .map(|poll| {
            (
                poll.thread(),
                poll.start_ns(),
                poll.end_ns().unwrap_or(u64::MAX),
            )
        })
        .collect();
    polls.sort_unstable();
    moves.retain(|handover| {
        let next = polls.partition_point(|&(thread, start_ns, _)| {
            (thread, start_ns) < (handover.thread, handover.time_ns)
        });
        let before = next.checked_sub(1).map(|place| polls[place]);
        before.is_some_and(|(thread, _, end_ns)| {
            thread == handover.thread && end_ns > handover.time_ns
        })
    });
    moves.sort_unstable();
    moves
}
