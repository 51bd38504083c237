//! The windows of recording: when one begins, and when it ends.
//!
//! One ends when recording is stopped, and with `keep = "first"` when `max_events` are there: from then
//! on nothing is known of anyone. Another begins when recording is started, or what was there is drained.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use crate::recorder::Recorder;
use crate::recorder::late_tasks::{self, LateTasks};
use crate::recorder::mode::Mode;
use crate::util::sync::{lock, try_lock};

/// A stretch of time in which was recorded, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: u64,
    /// `None` while it lasts.
    pub(crate) to: Option<u64>,
}

/// All of them, and what decides whether another begins. Whoever has them to itself is the only one who
/// changes the mode.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    pub(crate) all: Vec<Window>,
    /// Whether recording was started, and not stopped.
    is_wanted: bool,
    /// Whether `max_events` are there, with `keep = "first"`, and weren't drained.
    is_full: bool,
}

impl Windows {
    /// Whether events are refused, if any come.
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
    /// Begins to record. Without effect while it does.
    pub(crate) fn start(&self) {
        let mut windows = lock(&self.windows);
        if std::mem::replace(&mut windows.is_wanted, true) {
            return;
        }
        match windows.is_full {
            true => self.mode.change(|_| Some(Mode::Full)),
            false => self.begin_window(&mut windows),
        }
    }

    /// Ceases to record. Without effect unless it does.
    pub(crate) fn stop(&self) {
        let mut windows = lock(&self.windows);
        if std::mem::replace(&mut windows.is_wanted, false) {
            self.mode.change(|_| Some(Mode::Off));
            windows.end(self.clock.ticks());
        }
    }

    /// Ends the window if `max_events` are there. A hook doesn't wait for whoever has the windows: it
    /// looks again when the next chunk is full.
    pub(crate) fn end_if_full(&self) {
        let max_events = self.config.max_events as u64;
        // Not for each chunk both.
        if lock(&self.store).events() < max_events {
            return;
        }
        let Some(mut windows) = try_lock(&self.windows) else { return };
        // It may just have been drained.
        if windows.is_full || lock(&self.store).events() < max_events {
            return;
        }
        windows.is_full = true;
        if windows.is_wanted {
            self.mode.change(|_| Some(Mode::Full));
            windows.end(self.clock.ticks());
        }
    }

    /// Goes on if it was full, and what was there is drained.
    pub(crate) fn go_on_if_drained(&self) {
        let mut windows = lock(&self.windows);
        let was_full = windows.is_full;
        windows.is_full = was_full && lock(&self.store).events() >= self.config.max_events as u64;
        if was_full && !windows.is_full && windows.is_wanted {
            self.begin_window(&mut windows);
        }
    }

    fn begin_window(&self, windows: &mut Windows) {
        // Until it is known who may live since before: anyone.
        let late = Arc::new(LateTasks::new());
        // Not dropped with the lock held: hooks wait for it.
        let _before = std::mem::replace(&mut *lock(&self.late), Arc::clone(&late));
        let is_first = windows.all.is_empty();
        windows.all.push(Window { from: self.clock.ticks(), to: None });
        self.mode.begin_window(if self.clock.is_tsc() { Mode::FastPath } else { Mode::On });
        // A spawn either is recorded from here on, or is seen to have been missed.
        fence(Ordering::SeqCst);
        if is_first && !self.missed.load(Ordering::Relaxed) {
            late.are_below(0);
        } else if let Some(id) = late_tasks::next_task_number() {
            late.are_below(id);
        }
    }

    /// What is known of tasks from before the last window.
    pub(crate) fn late(&self) -> Arc<LateTasks> {
        Arc::clone(&lock(&self.late))
    }

    /// Says that tasks may live before the first start.
    pub(crate) fn expect_late_start(&self) {
        self.missed.store(true, Ordering::Relaxed);
    }

    /// The same, of a hook that finds that nothing is recorded.
    pub(crate) fn miss(&self) {
        if !self.missed.load(Ordering::Relaxed) {
            self.missed.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
        }
    }

    /// Whether recording was started, and not stopped. While it is full nothing is recorded all the same.
    pub(crate) fn is_recording(&self) -> bool {
        self.mode.get() != Mode::Off
    }
}
