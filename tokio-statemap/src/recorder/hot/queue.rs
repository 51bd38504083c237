//! Notes among a thread's records of how many tasks wait for a thread of the blocking pool.
//!
//! Tokio has no hook for the spawn or the start of such a task. When one ends, its thread asks for the queue, and so do
//! threads that take a [reading](crate::recorder::hot::reading). So no handle of the runtime has to be kept.

use std::panic::Location;
use std::sync::atomic::Ordering;

#[cfg(tokio_unstable)]
use tokio::runtime::RuntimeFlavor;

use crate::recorder::hot::Shared;
use crate::recorder::hot::thread_recorder::ThreadRecorder;
use crate::recorder::record::{Kind, Queue};

impl Shared {
    /// Before the next record, notes how many tasks wait in the queue: if any do, and once when none waits any more. If
    /// a task of the pool just ended, `ended` is where it was spawned.
    pub(super) fn note_queue(
        &self,
        thread: &mut ThreadRecorder,
        ticks: u64,
        ended: Option<Option<&'static Location<'static>>>,
    ) {
        let Some((waiting, threads)) = self.queue() else { return };
        if waiting == 0 && !self.runtime.has_queue.load(Ordering::Relaxed) {
            return;
        }
        self.runtime.has_queue.store(waiting > 0, Ordering::Relaxed);
        let ended = ended.map(|at| at.map(|at| thread.locations.id(at, &self.locations)));
        thread.push(self, ticks, Kind::Queue, Queue { waiting, threads, ended }.pack());
    }

    /// Returns the number of tasks that wait while no thread is idle, and the number of threads. `None` if the calling
    /// thread isn't in this recorder's runtime.
    #[cfg(tokio_unstable)]
    fn queue(&self) -> Option<(u64, u64)> {
        let handle = tokio::runtime::Handle::try_current().ok()?;
        if self.runtime.id() != Some(handle.id()) {
            return None;
        }
        let metrics = handle.metrics();
        let threads = metrics.num_blocking_threads() as u64;
        // A task for which one of these was woken hardly waits.
        if metrics.num_idle_blocking_threads() > 0 {
            return Some((0, threads));
        }
        // Workers are threads of the pool, too, and their loops are tasks of it. Each thread that is being started has
        // a task that waits only for that: on a busy machine this may take long.
        let workers = match handle.runtime_flavor() {
            RuntimeFlavor::CurrentThread => 0,
            _ => metrics.num_workers() as u64,
        };
        let started = self.runtime.started_threads.load(Ordering::Relaxed);
        let starting = (threads + workers).saturating_sub(started);
        let waiting = (metrics.blocking_queue_depth() as u64).saturating_sub(starting);
        Some((waiting, threads))
    }

    #[cfg(not(tokio_unstable))]
    fn queue(&self) -> Option<(u64, u64)> {
        None
    }
}
