//! Where threads are put that are to be looked at, and whether there is a thread that looks.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex};

use super::looked_at::Awake;
use crate::recorder::Recorder;
use crate::recorder::store::buffer::Buffer;
use crate::util::sync::{lock, try_lock};

/// The only one.
pub(super) static WATCHER: Watcher = Watcher::new();

pub(super) struct Watcher {
    /// The process that was watched last, also if it is no longer.
    process: AtomicU32,
    /// Whether it has the watcher's thread. Only changed while `state` is locked.
    pub(super) has_thread: AtomicBool,
    pub(super) state: Mutex<State>,
    pub(super) wake: Condvar,
}

impl Watcher {
    const fn new() -> Self {
        Self {
            process: AtomicU32::new(0),
            has_thread: AtomicBool::new(false),
            state: Mutex::new(State::new()),
            wake: Condvar::new(),
        }
    }

    /// Whether there is a thread that looks. A child of a fork has none.
    fn is_there(&self) -> bool {
        self.has_thread.load(Ordering::Acquire)
            && self.process.load(Ordering::Relaxed) == std::process::id()
    }

    /// Whether this is the child of a fork, in which the thread is gone, and what it had locked stays so.
    pub(super) fn is_forked(&self) -> bool {
        let process = self.process.load(Ordering::Relaxed);
        process != 0 && process != std::process::id()
    }

    /// One recorder more is started. Calls `start` unless there is a thread.
    pub(super) fn add_recorder(&self, start: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let is_forked = self.is_forked();
        let state = if is_forked { try_lock(&self.state) } else { Some(lock(&self.state)) };
        // Nobody will unlock it here.
        let Some(mut state) = state else { return Ok(()) };
        if is_forked {
            // The parent's, of which a lock may be held for ever.
            state.recorders = 0;
            std::mem::take(&mut state.woken).into_iter().for_each(std::mem::forget);
        }
        state.recorders += 1;
        let is_there = self.is_there();
        self.process.store(std::process::id(), Ordering::Relaxed);
        self.has_thread.store(true, Ordering::Release);
        if is_there {
            return Ok(());
        }
        let started = start();
        if started.is_err() {
            self.has_thread.store(false, Ordering::Release);
        }
        started
    }

    /// The thread of `buffer` is looked at from now on, if there is a thread that looks.
    pub(super) fn add(&self, recorder: &Recorder, buffer: &'static Buffer) {
        if !self.is_there() || buffer.watched.is_awake.swap(true, Ordering::AcqRel) {
            return;
        }
        let awake = Awake::new(recorder, buffer);
        let mut state = lock(&self.state);
        // It may just have ended, or could not be started.
        if !self.is_there() {
            drop(state);
            return awake.let_go();
        }
        state.woken.push(awake);
        if state.woken.len() == 1 {
            self.wake.notify_one();
        }
    }
}

pub(super) struct State {
    /// How many recorders are started.
    pub(super) recorders: usize,
    /// Those that woke up since the last look. There is room for all: hooks don't allocate.
    pub(super) woken: Vec<Awake>,
    /// How many buffers there are.
    buffers: usize,
}

impl State {
    const fn new() -> Self {
        Self { recorders: 0, woken: Vec::new(), buffers: 0 }
    }

    /// A thread gets a buffer, which may be new. Each may wake up for two recorders between two looks.
    pub(super) fn make_room(&mut self, is_new: bool) {
        self.buffers += usize::from(is_new);
        self.woken.reserve(2 * self.buffers);
    }

    /// Leaves those alone that woke up. The next thread that looks finds them again.
    pub(super) fn let_go(&mut self) {
        for one in self.woken.drain(..) {
            one.let_go();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CollectorConfig;

    #[test]
    fn where_no_thread_looks_nothing_is_added() {
        let (watcher, recorder) = (Watcher::new(), Recorder::new(CollectorConfig::default()));
        let buffer: &_ = Box::leak(Box::new(Buffer::unassigned()));
        let woken = || {
            watcher.add(&recorder, buffer);
            lock(&watcher.state).woken.len()
        };
        assert_eq!(woken(), 0);
        let no_thread = || Err(io::ErrorKind::WouldBlock.into());
        watcher.add_recorder(no_thread).unwrap_err();
        assert_eq!((woken(), woken()), (0, 0));
        // The next recorder may be luckier.
        watcher.add_recorder(|| Ok(())).unwrap();
        watcher.add_recorder(|| panic!("there is one")).unwrap();
        assert_eq!((woken(), woken()), (1, 1));
        assert_eq!(lock(&watcher.state).recorders, 3);
    }

    #[test]
    fn there_is_room_for_those_that_wake_up() {
        let mut state = State::new();
        for buffers in 1..100 {
            state.make_room(true);
            // Threads that come and go have one buffer after the other.
            (0..7).for_each(|_| state.make_room(false));
            assert!(state.woken.capacity() - state.woken.len() >= 2 * buffers);
        }
    }
}
