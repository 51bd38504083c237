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
pub(crate) fn busy_share(workers: &[WorkerShare]) -> Option<f64> {
    let running: u128 = workers.iter().map(|worker| u128::from(worker.running_ns)).sum();
    share(running, time_ns(workers))
}

/// Returns how long all workers existed, in ns.
pub(super) fn time_ns(workers: &[WorkerShare]) -> u128 {
    workers.iter().map(|worker| u128::from(worker.time_ns())).sum()
}

pub(super) fn shares(timeline: &Timeline) -> Vec<WorkerShare> {
    if !timeline.settings.trace_target.tracks_workers() {
        return Vec::new();
    }
    timeline.workers.iter().map(|worker| worker_share(timeline, worker)).collect()
}

fn worker_share(timeline: &Timeline, worker: &Worker) -> WorkerShare {
    let mut spent =
        WorkerShare { index: worker.index, running_ns: 0, parked_ns: 0, parks: worker.parks };
    // What a worker did in a gap isn't known, though its spans reach across it. Gaps and spans are in the order of time.
    let mut gaps = timeline.gaps.as_slice();
    for span in worker.spans(timeline.end_ns) {
        let over = gaps.iter().take_while(|(_, to)| *to <= span.start_ns);
        gaps = &gaps[over.count()..];
        let in_gaps: u64 = gaps
            .iter()
            .take_while(|(from, _)| *from < span.end_ns)
            .map(|(from, to)| to.min(&span.end_ns) - from.max(&span.start_ns))
            .sum();
        let length = span.length_ns().saturating_sub(in_gaps);
        match span.state {
            WorkerState::Running => spent.running_ns = spent.running_ns.saturating_add(length),
            WorkerState::Parked => spent.parked_ns = spent.parked_ns.saturating_add(length),
            WorkerState::Stopped => {}
        }
    }
    spent
}
