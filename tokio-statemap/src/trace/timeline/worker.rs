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
        let mut rest = &self.transitions[..];
        std::iter::from_fn(move || {
            let (&(start_ns, state), after) = rest.split_first()?;
            rest = after;
            let end_ns = after.first().map_or(end_ns.max(start_ns), |&(next_ns, _)| next_ns);
            Some(Span { state, start_ns, end_ns })
        })
    }

    /// Returns the total time in `state`, in ns.
    pub fn total_ns(&self, state: WorkerState, end_ns: u64) -> u64 {
        let mut total_ns = 0;
        for span in self.spans(end_ns) {
            if span.state == state {
                total_ns += span.length_ns();
            }
        }
        total_ns
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
