//! The background thread: one per process, while anything is recorded.
//!
//! It [collects](crate::recorder::kept::Kept::collect) full chunks, evicts the oldest events, prepares memory for the
//! threads that record and takes back [what they don't need](spare), takes anchors of the clock, and is the [watcher]
//! of long polls. So a hook takes no lock and asks the system for nothing. It sleeps while no chunk gets full and no
//! thread is looked at.
//!
//! It is started after the runtime's own threads, so that the program comes first if there is a limit on threads.
//!
//! If there is no such thread, as in the child of a fork or when the system refuses one, or if it doesn't keep up, the
//! threads that record do its work themselves.

#[cfg(has_black_box)]
mod black_box;
#[cfg(not(has_black_box))]
#[path = "no_black_box.rs"]
mod black_box;
pub(super) mod pace;
mod recorders;
mod spare;
#[cfg(all(test, tokio_unstable))]
mod tests;
#[cfg_attr(not(has_stacks), path = "no_watcher.rs")]
mod watcher;

use std::sync::Arc;
#[cfg(feature = "html")]
use std::time::Duration;
use std::time::Instant;

#[cfg(has_black_box)]
pub(crate) use black_box::{close as close_box, open as open_box, write as write_box};
use pace::Pace;
use recorders::STARTED;
use spare::Spare;
use watcher::Watcher;

use crate::recorder::hot::{Shared, woken};
use crate::recorder::kept::Filled;
use crate::recorder::process;
use crate::recorder::watch::Sample;
use crate::sys::filter;
use crate::util::message::warn;

/// Adds a recorder that is started.
pub(crate) fn recorder_started(recorder: &Shared) {
    STARTED.add(recorder);
    if recorder.runtime.is_built() {
        start_thread(recorder);
    }
}

/// Removes a recorder that is stopped.
pub(crate) fn recorder_stopped(recorder: &Shared) {
    if !process::is_forked() {
        STARTED.remove(recorder);
        process::wake();
    }
}

/// Starts the thread, unless it exists or has nothing to do.
pub(crate) fn start_thread(recorder: &Shared) {
    let start = || crate::sys::start("tokio-statemap", Box::new(run));
    let started = STARTED.start_thread(&start);
    if let (Err(error), true) = (started, recorder.kept.config.stacks) {
        warn(format_args!("long polls are not looked at: no thread can be started: {error}"));
    }
}

/// Has the watcher look at all threads that have recorded so far.
pub(crate) fn watch_all(recorder: &Shared) {
    for buffer in recorder.kept.buffers.all() {
        woken::add(recorder, buffer);
    }
}

/// Returns the time in ticks since when each worker of the runtime is in its poll, if that is `time` ago at least.
#[cfg(feature = "html")]
pub(crate) fn stalled_since(recorder: &Shared, time: Duration) -> Option<u64> {
    watcher::stalled_since(recorder, time)
}

/// The time after the end of what is recorded for which threads are still in what they did then, in ns.
const SOON_NS: u64 = 500_000_000;

/// Returns samples of the threads of the blocking pool, if tasks wait for one, as they are at `end`, in ticks: nothing if that is
/// long ago.
pub(crate) fn sample_pool(recorder: &Shared, end: u64) -> Vec<Sample> {
    let clock = &recorder.kept.clock;
    match clock.length_ns(end, clock.ticks()) < SOON_NS {
        true => watcher::sample_pool(recorder, end),
        false => Vec::new(),
    }
}

/// The number of rounds between two looks at seccomp filters: some seconds. The first filter is noticed at once.
const ROUNDS_TO_A_LOOK_AT_FILTERS: u32 = 256;

/// Runs the thread.
fn run() {
    #[cfg(unix)]
    crate::sys::signal::block_all();
    // While this thread waits for a processor, threads that have one fill chunk after chunk.
    crate::sys::slice::prefer_soon();
    let (mut watcher, mut pace) = (Watcher::default(), Pace::default());
    // Threads that recorded earlier had no watcher to wake.
    for recorder in STARTED.all() {
        watch_all(&recorder);
    }
    let mut rounds = 0_u32;
    let mut spare = Spare::default();
    let mut collected_at = Instant::now();
    while !STARTED.are_over() {
        rounds = rounds.wrapping_add(1);
        if rounds % ROUNDS_TO_A_LOOK_AT_FILTERS == 0 {
            filter::look_again();
        }
        let recorders = STARTED.all();
        for recorder in &recorders {
            recorder.kept.take_anchor();
            recorder.machine.note_steal_if_due(&recorder.kept.clock);
        }
        let filled = collect(&recorders);
        spare.take_back(!filled.is_nothing(), &recorders);
        let next_round = black_box::write_due(&recorders);
        drop(recorders);
        if filled.is_nothing() && watcher.is_idle() {
            let waits = [spare.time(), watcher.rest(), next_round];
            let most = waits.into_iter().flatten().min();
            process::sleep(most, &|| {
                let recorders = STARTED.all();
                let has_full = |recorder: &Arc<Shared>| recorder.kept.has_full_chunks();
                !watcher.is_idle() || recorders.is_empty() || recorders.iter().any(has_full)
            });
        } else {
            pace.adapt(filled, std::mem::replace(&mut collected_at, Instant::now()).elapsed());
            watcher.wait_or_look([pace.time(), next_round].into_iter().flatten().min());
        }
    }
    watcher.leave_all();
}

/// Collects full chunks.
fn collect(recorders: &[Arc<Shared>]) -> Filled {
    let mut most = Filled::default();
    for recorder in recorders {
        most = most.max(recorder.kept.collect());
    }
    most
}
