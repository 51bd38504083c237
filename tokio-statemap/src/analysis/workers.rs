//! Measures how busy the workers were.

use crate::trace::state::WorkerState;
use crate::trace::timeline::{Timeline, Worker};
use crate::util::quantity::share;

/// The time of a worker, by what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerShare {
    /// The worker's index in the runtime.
    pub index: u32,
    /// The time that it polled tasks or looked for some, in ns.
    pub running_ns: u64,
    /// The time that it was parked, in ns.
    pub parked_ns: u64,
    /// The number of times that it parked.
    pub parks: u64,
}

impl WorkerShare {
    /// Returns the share of its time that the worker was running, from 0 to 1; `None` if it had no time.
    pub fn running_share(&self) -> Option<f64> {
        share(self.running_ns, self.time_ns())
    }

    /// Returns how long the worker existed, in ns.
    pub fn time_ns(&self) -> u64 {
        self.running_ns.saturating_add(self.parked_ns)
    }
}

/// Returns the share of their time that all workers were running, from 0 to 1.
#[inline(never)]
pub(crate) fn busy_share(workers: &[WorkerShare]) -> Option<f64> {
    share(running_ns(workers), time_ns(workers))
}

/// Returns how long all workers were running, in ns.
pub(super) fn running_ns(workers: &[WorkerShare]) -> u128 {
    sum_ns(workers, |worker| worker.running_ns)
}

/// Returns how long all workers existed, in ns.
pub(super) fn time_ns(workers: &[WorkerShare]) -> u128 {
    sum_ns(workers, WorkerShare::time_ns)
}

#[inline(never)]
fn sum_ns(workers: &[WorkerShare], of: fn(&WorkerShare) -> u64) -> u128 {
    workers.iter().map(|worker| u128::from(of(worker))).sum()
}

pub(super) fn shares(timeline: &Timeline) -> Vec<WorkerShare> {
    if !timeline.settings.trace_target.tracks_workers() {
        return Vec::new();
    }
    let mut shares = Vec::with_capacity(timeline.workers.len());
    for worker in &timeline.workers {
        shares.push(worker_share(timeline, worker));
    }
    shares
}

fn worker_share(timeline: &Timeline, worker: &Worker) -> WorkerShare {
    let mut spent =
        WorkerShare { index: worker.index, running_ns: 0, parked_ns: 0, parks: worker.parks };
    // It isn't known what a worker did in a gap, although its spans reach across it. Gaps and spans are in the order of
    // time.
    let mut gaps = timeline.gaps.as_slice();
    for span in worker.spans(timeline.end_ns) {
        while let [(_, to), rest @ ..] = gaps {
            if *to > span.start_ns {
                break;
            }
            gaps = rest;
        }
        let mut length = span.length_ns();
        for &(from, to) in gaps {
            if from >= span.end_ns {
                break;
            }
            length = length.saturating_sub(to.min(span.end_ns) - from.max(span.start_ns));
        }
        match span.state {
            WorkerState::Running => spent.running_ns = spent.running_ns.saturating_add(length),
            WorkerState::Parked => spent.parked_ns = spent.parked_ns.saturating_add(length),
            WorkerState::Stopped => {}
        }
    }
    spent
}
