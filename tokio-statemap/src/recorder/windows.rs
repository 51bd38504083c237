//! The windows of recording: when one begins, and when it ends.
//!
//! A window ends when recording is stopped, and with `keep = "first"` when `max_events` are kept:
//! nothing is known about what happens afterwards. The next begins when recording is started, or
//! after a drain.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use crate::recorder::late_tasks::{self, LateTasks};
use crate::recorder::mode::Mode;
use crate::recorder::waits;
use crate::recorder::{Recorder, background};
use crate::util::sync::{lock, try_lock};

/// A period of time in which events were recorded, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: u64,
    /// `None` while it is open.
    pub(crate) to: Option<u64>,
}

/// All windows, and what decides whether another begins. The mode is only changed while this is
/// locked.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    pub(crate) all: Vec<Window>,
    /// Whether recording is started.
    is_wanted: bool,
    /// Whether `max_events` are kept, with `keep = "first"`, and were not drained.
    is_full: bool,
}

impl Windows {
    /// Whether events are refused.
    pub(crate) fn are_full(&self) -> bool {
        self.is_full
    }

    fn end(&mut self, ticks: u64) {
        if let Some(window @ Window { to: None, .. }) = self.all.last_mut() {
            window.to = Some(ticks);
        }
    }
}

impl Recorder {
    /// Starts recording. Has no effect if it is started.
    pub(crate) fn start(&self) {
        let mut windows = lock(&self.windows);
        if std::mem::replace(&mut windows.is_wanted, true) {
            return;
        }
        self.read_limit_at_start();
        background::recorder_started(self);
        if self.config.trace_target.tracks_tasks() {
            waits::prepare();
        }
        match windows.is_full {
            true => self.mode.change(|_| Some(Mode::Full)),
            false => self.begin_window(&mut windows),
        }
    }

    /// Stops recording. Has no effect if it is stopped.
    pub(crate) fn stop(&self) {
        // In the child of a fork it may stay locked for ever.
        let windows = if background::is_forked() {
            try_lock(&self.windows)
        } else {
            Some(lock(&self.windows))
        };
        let Some(mut windows) = windows else { return };
        if std::mem::replace(&mut windows.is_wanted, false) {
            self.mode.change(|_| Some(Mode::Off));
            windows.end(self.clock.ticks());
            background::recorder_stopped(self);
            self.read_limit_at_stop();
        }
    }

    /// Ends the window if `max_events` are kept. A hook doesn't wait for the lock on the windows:
    /// it checks again when the next chunk is full.
    pub(crate) fn end_if_full(&self) {
        let max_events = self.config.max_events as u64;
        // Checked first, as it needs only the store's lock.
        if lock(&self.store).events() < max_events {
            return;
        }
        let Some(mut windows) = try_lock(&self.windows) else { return };
        // A drain may have emptied the store since.
        if windows.is_full || lock(&self.store).events() < max_events {
            return;
        }
        windows.is_full = true;
        if windows.is_wanted {
            self.mode.change(|_| Some(Mode::Full));
            windows.end(self.clock.ticks());
        }
    }

    /// Begins a new window after a drain, if the store was full.
    pub(crate) fn resume_if_drained(&self) {
        let mut windows = lock(&self.windows);
        let was_full = windows.is_full;
        windows.is_full = was_full && lock(&self.store).events() >= self.config.max_events as u64;
        if was_full && !windows.is_full && windows.is_wanted {
            self.begin_window(&mut windows);
        }
    }

    fn begin_window(&self, windows: &mut Windows) {
        // Every task may be late, until an upper bound is known.
        let late = Arc::new(LateTasks::new());
        // Dropped after the lock is released: hooks wait for it.
        let _before = std::mem::replace(&mut *lock(&self.late), Arc::clone(&late));
        let is_first = windows.all.is_empty();
        let from = self.clock.ticks();
        windows.all.push(Window { from, to: None });
        self.window_from.store(from, Ordering::Relaxed);
        self.mode.begin_window(if self.clock.is_tsc() { Mode::FastPath } else { Mode::On });
        // Each spawn is either recorded from here on, or sets `ran_while_off`.
        fence(Ordering::SeqCst);
        if is_first && !self.ran_while_off.load(Ordering::Relaxed) {
            late.set_below(0);
        } else if let Some(id) = late_tasks::next_task_id() {
            late.set_below(id);
        }
    }

    /// The late tasks of the current window.
    pub(crate) fn late(&self) -> Arc<LateTasks> {
        Arc::clone(&lock(&self.late))
    }

    /// Declares that tasks may be spawned before the first start.
    pub(crate) fn expect_late_start(&self) {
        self.ran_while_off.store(true, Ordering::Relaxed);
    }

    /// Called by a hook that runs while nothing is recorded.
    pub(crate) fn mark_ran_while_off(&self) {
        if !self.ran_while_off.load(Ordering::Relaxed) {
            self.ran_while_off.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
        }
    }

    /// Whether recording is started. While the store is full nothing is recorded all the same.
    pub(crate) fn is_recording(&self) -> bool {
        self.mode.get() != Mode::Off
    }
}
