//! Which process has the background thread, and for which recorders.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, Weak};

use crate::recorder::Recorder;
use crate::util::sync::{lock, try_lock};

/// The only one.
pub(super) static PROCESS: Process = Process::new();

pub(super) struct Process {
    /// The process that had the thread last, also if it has it no longer.
    id: AtomicU32,
    /// Whether it has the thread. Only changed while `state` is locked.
    has_thread: AtomicBool,
    pub(super) state: Mutex<State>,
    pub(super) wake: Condvar,
}

pub(super) struct State {
    /// The recorders that are started.
    recorders: Vec<Weak<Recorder>>,
}

impl Process {
    const fn new() -> Self {
        Self {
            id: AtomicU32::new(0),
            has_thread: AtomicBool::new(false),
            state: Mutex::new(State { recorders: Vec::new() }),
            wake: Condvar::new(),
        }
    }

    /// Whether there is the thread. A child of a fork has none.
    pub(super) fn is_there(&self) -> bool {
        self.has_thread.load(Ordering::Acquire)
            && self.id.load(Ordering::Relaxed) == std::process::id()
    }

    #[cfg(all(test, statemap_loom))]
    pub(super) fn pretend_there(&self, is_there: bool) {
        self.id.store(std::process::id(), Ordering::Relaxed);
        self.has_thread.store(is_there, Ordering::Relaxed);
    }

    /// Whether this is the child of a fork, in which the thread is gone, and what it had locked stays so.
    pub(super) fn is_forked(&self) -> bool {
        let id = self.id.load(Ordering::Relaxed);
        id != 0 && id != std::process::id()
    }

    /// One recorder more is started.
    pub(super) fn add(&self, recorder: &Recorder) {
        let is_forked = self.is_forked();
        let state = if is_forked { try_lock(&self.state) } else { Some(lock(&self.state)) };
        // Nobody will unlock it here.
        let Some(mut state) = state else { return };
        if is_forked {
            // The parent's, of which a lock may be held for ever.
            std::mem::forget(std::mem::take(&mut state.recorders));
            self.has_thread.store(false, Ordering::Release);
        }
        state.recorders.push(recorder.this());
        self.id.store(std::process::id(), Ordering::Relaxed);
    }

    /// Calls `start`, unless there is the thread or no recorder is started.
    pub(super) fn start_thread(&self, start: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        if self.is_forked() {
            return Ok(());
        }
        let state = lock(&self.state);
        if self.is_there() || !state.has_recorders() {
            return Ok(());
        }
        self.has_thread.store(true, Ordering::Release);
        let started = start();
        if started.is_err() {
            self.has_thread.store(false, Ordering::Release);
        }
        started
    }

    /// It is started no longer.
    pub(super) fn remove(&self, recorder: &Recorder) {
        lock(&self.state).recorders.retain(|other| !std::ptr::eq(other.as_ptr(), recorder));
    }

    /// Whether no recorder is started. Then the process has no thread any more: the caller, which is that
    /// thread, must end.
    pub(super) fn ends(&self) -> bool {
        let state = lock(&self.state);
        let ends = !state.has_recorders();
        if ends {
            self.has_thread.store(false, Ordering::Release);
        }
        ends
    }

    /// The recorders that are started.
    pub(super) fn recorders(&self) -> Vec<Arc<Recorder>> {
        lock(&self.state).recorders.iter().filter_map(Weak::upgrade).collect()
    }
}

impl State {
    /// Whether any recorder is started.
    pub(super) fn has_recorders(&self) -> bool {
        !self.recorders.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CollectorConfig;

    #[test]
    fn a_thread_is_started_for_the_first_recorder() {
        let process = Process::new();
        let recorders = [(), ()].map(|()| Recorder::new(CollectorConfig::default()));
        let no_thread = || Err(io::ErrorKind::WouldBlock.into());
        process.start_thread(|| panic!("there is nothing to do for it")).unwrap();
        process.add(&recorders[0]);
        process.start_thread(no_thread).unwrap_err();
        assert!(!process.is_there());
        // The next recorder may be luckier.
        process.add(&recorders[1]);
        process.start_thread(|| Ok(())).unwrap();
        process.start_thread(|| panic!("there is one")).unwrap();
        assert_eq!(process.recorders().len(), 2);
        assert!(!process.ends() && process.is_there());
        recorders.iter().for_each(|recorder| process.remove(recorder));
        assert!(process.recorders().is_empty() && process.is_there());
        assert!(process.ends() && !process.is_there());
    }
}
