//! How many tasks wait for a thread of the blocking pool, as notes among a thread's records.
//!
//! Tokio has no hook for the spawn of such a task, nor for its start. When it ends, its thread asks for
//! the queue, and so do threads that are read ([`watch`](crate::recorder::watch)). Nobody keeps a handle of the
//! runtime for that.

use std::panic::Location;
use std::sync::atomic::Ordering;

#[cfg(tokio_unstable)]
use tokio::runtime::RuntimeFlavor;

use crate::recorder::Recorder;
use crate::recorder::live_tasks::LocationId;
use crate::recorder::record::{Kind, PAYLOAD_BITS};
use crate::recorder::thread_recorder::ThreadRecorder;

/// The queue at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Queue {
    /// How many tasks wait while no thread is idle, without those that have a thread which is being started.
    pub(crate) waiting: u64,
    /// How many threads the pool has.
    pub(crate) threads: u64,
    /// Whether a task of the pool just ended on this thread; and where it was spawned, if that is known.
    pub(crate) ended: Option<Option<LocationId>>,
}

/// The bits of each in one payload. What is more than fits is the most that does.
const WAITING_BITS: u32 = 18;
const THREADS_BITS: u32 = 14;
const ENDED_BITS: u32 = PAYLOAD_BITS - WAITING_BITS - THREADS_BITS;

const fn most(bits: u32) -> u64 {
    (1 << bits) - 1
}

impl Queue {
    fn pack(self) -> u64 {
        let ended = match self.ended {
            None => 0,
            Some(location) => location
                .map(|id| u64::from(id) + 2)
                .filter(|&id| id <= most(ENDED_BITS))
                .unwrap_or(1),
        };
        let waiting = self.waiting.min(most(WAITING_BITS));
        let threads = self.threads.min(most(THREADS_BITS));
        ended << (WAITING_BITS + THREADS_BITS) | threads << WAITING_BITS | waiting
    }

    pub(crate) fn unpack(payload: u64) -> Self {
        let ended = payload >> (WAITING_BITS + THREADS_BITS);
        Self {
            waiting: payload & most(WAITING_BITS),
            threads: payload >> WAITING_BITS & most(THREADS_BITS),
            ended: (ended > 0).then(|| LocationId::try_from(ended.checked_sub(2)?).ok()),
        }
    }
}

impl Recorder {
    /// Notes before the next record how many tasks wait in the queue, if any do; and then once that
    /// none does any more. `ended` is where the task was spawned that just ended, if one of the pool did.
    pub(super) fn note_queue(
        &self,
        thread: &mut ThreadRecorder,
        ticks: u64,
        ended: Option<Option<&'static Location<'static>>>,
    ) {
        let Some((waiting, threads)) = self.queue() else { return };
        if waiting == 0 && !self.has_queue.load(Ordering::Relaxed) {
            return;
        }
        self.has_queue.store(waiting > 0, Ordering::Relaxed);
        let ended = ended.map(|at| at.map(|at| thread.locations.id(at, &self.locations)));
        thread.push(self, ticks, Kind::Queue, Queue { waiting, threads, ended }.pack());
    }

    /// How many tasks wait while no thread is idle, and how many threads there are. `None` if the calling
    /// thread isn't in this recorder's runtime.
    #[cfg(tokio_unstable)]
    fn queue(&self) -> Option<(u64, u64)> {
        let handle = tokio::runtime::Handle::try_current().ok()?;
        if self.runtime.get() != Some(&handle.id()) {
            return None;
        }
        let metrics = handle.metrics();
        let threads = metrics.num_blocking_threads() as u64;
        // A task that one of these was woken for hardly waits.
        if metrics.num_idle_blocking_threads() > 0 {
            return Some((0, threads));
        }
        // Workers are threads of the pool, too, and their loops tasks of it. Each thread that is being
        // started has a task that waits for nothing else: on a busy machine that may take long.
        let workers = match handle.runtime_flavor() {
            RuntimeFlavor::CurrentThread => 0,
            _ => metrics.num_workers() as u64,
        };
        let started = self.started_threads.load(Ordering::Relaxed);
        let starting = (threads + workers).saturating_sub(started);
        let waiting = (metrics.blocking_queue_depth() as u64).saturating_sub(starting);
        Some((waiting, threads))
    }

    #[cfg(not(tokio_unstable))]
    fn queue(&self) -> Option<(u64, u64)> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_in_one_payload() {
        for ended in [None, Some(None), Some(Some(0)), Some(Some(7))] {
            let queue = Queue { waiting: 48, threads: 512, ended };
            assert_eq!(Queue::unpack(queue.pack()), queue);
        }
        let beyond = Queue { waiting: u64::MAX, threads: u64::MAX, ended: Some(Some(u32::MAX)) };
        let most = Queue { waiting: most(18), threads: most(14), ended: Some(None) };
        assert_eq!(Queue::unpack(beyond.pack()), most);
        assert_eq!(beyond.pack() >> PAYLOAD_BITS, 0);
    }
}
