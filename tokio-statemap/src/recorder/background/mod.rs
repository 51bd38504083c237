//! The background thread: one per process, while anything is recorded.
//!
//! It [collects](collect) full chunks, evicts the oldest events, prepares memory for the threads that record and takes
//! back [what they don't need](spare), takes anchors of the clock, and is the [watcher of long polls](crate::recorder::watch). So a hook takes no lock and asks the system for
//! nothing. It sleeps while no chunk gets full and no thread is looked at.
//!
//! It is started once the runtime has started its own threads: where there is a limit on threads, the program has the
//! first of them.
//!
//! Where it can't be had, in the child of a fork or if the system has no thread, or where it doesn't keep up,
//! the threads that record do its work themselves.

mod collect;
pub(super) mod pace;
mod process;
mod spare;
#[cfg(all(test, tokio_unstable))]
mod tests;

use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::time::Duration;

use pace::Pace;
use process::PROCESS;
use spare::Spare;
use tokio::runtime::Handle;

use crate::recorder::Recorder;
use crate::recorder::watch::Watcher;
use crate::sys::filter;
use crate::util::message::warn;
use crate::util::sync::lock;

/// Whether the thread sleeps until it is woken.
static SLEEPS: AtomicBool = AtomicBool::new(false);

/// A recorder was started.
pub(crate) fn recorder_started(recorder: &Recorder) {
    PROCESS.add(recorder);
    if recorder.is_built() {
        start_thread(recorder);
    }
}

/// Starts the thread, unless it is there or there is nothing to do for it.
fn start_thread(recorder: &Recorder) {
    let started = PROCESS.start_thread(|| {
        std::thread::Builder::new().name("tokio-statemap".to_owned()).spawn(run).map(drop)
    });
    if let (Err(error), true) = (started, recorder.config.stacks) {
        warn(format_args!("long polls are not looked at: no thread can be started: {error}"));
    }
}

impl Recorder {
    /// Whether the runtime has started its threads.
    fn is_built(&self) -> bool {
        self.is_built.load(Ordering::Relaxed)
    }

    /// The runtime has started its threads.
    pub(crate) fn runtime_is_built(&self) {
        if !self.is_built.swap(true, Ordering::Relaxed) {
            start_thread(self);
        }
    }

    /// A thread of the runtime was started, one of so many: the last worker, perhaps.
    pub(in crate::recorder) fn runtime_may_be_built(&self, threads: u64) {
        let has_all = |handle: Handle| threads >= handle.metrics().num_workers() as u64;
        if !self.is_built() && Handle::try_current().is_ok_and(has_all) {
            self.runtime_is_built();
        }
    }
}

/// It was stopped.
pub(crate) fn recorder_stopped(recorder: &Recorder) {
    if !is_forked() {
        PROCESS.remove(recorder);
        wake();
    }
}

/// Whether this is the child of a fork, in which the thread is gone, and what it had locked stays so.
pub(crate) fn is_forked() -> bool {
    PROCESS.is_forked()
}

/// Whether there is the thread.
pub(crate) fn is_there() -> bool {
    PROCESS.is_there()
}

/// In a model, whether there is the thread, which is one of the model.
#[cfg(all(test, statemap_loom))]
pub(crate) fn pretend_there(is_there: bool) {
    PROCESS.pretend_there(is_there);
}

/// There is something to do for the thread.
#[inline]
pub(crate) fn wake() {
    // After what there is to do: either it finds that before it sleeps, or this finds that it sleeps.
    fence(Ordering::SeqCst);
    if SLEEPS.load(Ordering::Relaxed) {
        wake_up();
    }
}

#[cold]
#[inline(never)]
fn wake_up() {
    if !is_forked() && SLEEPS.swap(false, Ordering::AcqRel) {
        // Locked, so that it doesn't fall asleep between its look at the flag and its wait.
        let _state = lock(&PROCESS.state);
        PROCESS.wake.notify_one();
    }
}

/// Some seconds' worth. A filter that is the first is noticed at once.
const ROUNDS_TO_A_LOOK_AT_FILTERS: u32 = 256;

/// The thread.
fn run() {
    #[cfg(unix)]
    crate::sys::signal::block_all();
    // While it waits for a processor, those that have one fill chunk after chunk.
    crate::sys::slice::prefer_soon();
    let (mut watcher, mut pace) = (Watcher::default(), Pace::default());
    // Threads that recorded before there was a watcher had none to wake.
    PROCESS.recorders().iter().for_each(|recorder| recorder.watch_all());
    let mut rounds = 0_u32;
    let mut spare = Spare::default();
    while !PROCESS.ends() {
        rounds = rounds.wrapping_add(1);
        if rounds % ROUNDS_TO_A_LOOK_AT_FILTERS == 0 {
            filter::look_again();
        }
        let recorders = PROCESS.recorders();
        for recorder in &recorders {
            recorder.take_anchor();
            recorder.note_steal_if_due();
        }
        let filled = collect::all(&recorders);
        spare.take_back(!filled.is_nothing(), &recorders);
        drop(recorders);
        if filled.is_nothing() && watcher.is_idle() {
            let most = [spare.time(), watcher.rest()].into_iter().flatten().min();
            sleep(&watcher, most);
        } else {
            pace.adapt(filled);
            watcher.wait_or_look(pace.time());
        }
    }
    watcher.leave_all();
}

/// Sleeps until there is something to do, but no longer than `most`, if that is said.
fn sleep(watcher: &Watcher, most: Option<Duration>) {
    SLEEPS.store(true, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    if !watcher.is_idle() || collect::is_needed(&PROCESS.recorders()) {
        return SLEEPS.store(false, Ordering::Relaxed);
    }
    let mut state = lock(&PROCESS.state);
    // The last recorder may have been stopped before that flag was set.
    while SLEEPS.load(Ordering::Relaxed) && state.has_recorders() {
        let wake = &PROCESS.wake;
        let Some(most) = most else {
            state = wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let woken = wake.wait_timeout(state, most).unwrap_or_else(PoisonError::into_inner);
        state = woken.0;
        if woken.1.timed_out() {
            break;
        }
    }
    SLEEPS.store(false, Ordering::Relaxed);
}
