//! The recorded lives of workers and blocking threads.

use crate::trace::state::WorkerState;
use crate::trace::timeline::span::Span;

/// The recorded life of a worker.
///
/// A worker is identified by its index in the runtime (`tokio::runtime::worker_index`), not by its
/// thread: `block_in_place` moves it to another thread.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Worker {
    /// Its index in the runtime.
    pub index: u32,
    /// The state transitions: the time in ns, which never goes back, and the state from then on.
    /// Never empty.
    pub transitions: Vec<(u64, WorkerState)>,
    /// The number of times that it parked.
    pub parks: u64,
}

impl Worker {
    /// Iterates over the spans of its row, up to the right edge `end_ns`, without gaps between
    /// them.
    pub fn spans(&self, end_ns: u64) -> impl Iterator<Item = Span<WorkerState>> + '_ {
        self.transitions.iter().enumerate().map(move |(i, &(start_ns, state))| Span {
            state,
            start_ns,
            end_ns: self
                .transitions
                .get(i + 1)
                .map_or_else(|| end_ns.max(start_ns), |&(next, _)| next),
        })
    }

    /// Returns the total time in `state`, in ns.
    pub fn total_ns(&self, state: WorkerState, end_ns: u64) -> u64 {
        self.spans(end_ns).filter(|span| span.state == state).map(|span| span.length_ns()).sum()
    }
}

/// A thread of the blocking pool, which ran `spawn_blocking` closures and was never a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockingThread {
    /// Its number among the runtime's threads.
    pub thread: u32,
    /// The time of its start, in ns.
    pub started_ns: u64,
    /// The time of its stop, in ns; `None` if that was not recorded.
    pub stopped_ns: Option<u64>,
}

/// A `block_in_place` call that moved a worker to another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Handover {
    /// The thread that the task blocks.
    pub thread: u32,
    /// The time at which the worker was first seen on the other thread, in ns.
    pub time_ns: u64,
    /// The worker.
    pub worker: u32,
}
