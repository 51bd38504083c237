//! The windows of recording: when one begins, and when it ends.
//!
//! A window ends when recording is stopped, and with `keep = "first"` when `max_events` are kept:
//! nothing is known about what happens afterwards. The next begins when recording is started, or
//! after a drain. Where the clock jumped, while the machine slept say, one ends and another begins.
//!
//! A window is kept until the events in it are evicted. If there are very many, their events are evicted for that, so that
//! a program may start and stop recording as often as it likes. With `keep = "first"` nothing is evicted: then no more
//! windows begin than `max_events`, until a drain.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use crate::config::Keep;
use crate::recorder::clock::Found;
use crate::recorder::late_tasks::{self, LateTasks};
use crate::recorder::live_tasks::LiveTasks;
use crate::recorder::mode::Mode;
use crate::recorder::sums::Sums;
use crate::recorder::waits;
use crate::recorder::windows_before::{MORE, MOST, WindowsBefore};
use crate::recorder::{Recorder, background};
use crate::util::sync::{lock, try_lock};

/// A period of time in which events were recorded, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: u64,
    /// `None` while it is open.
    pub(crate) to: Option<u64>,
    /// Whether the clock jumped before it: then everything was recorded all the same.
    pub(crate) is_after_jump: bool,
}

impl Window {
    pub(crate) const fn new(from: u64, to: Option<u64>) -> Self {
        Self { from, to, is_after_jump: false }
    }
}

/// The windows that are kept, and what decides whether another begins. The mode is only changed while this is
/// locked.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    /// At least one, once there was one.
    pub(crate) all: Vec<Window>,
    pub(crate) before: WindowsBefore,
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

    /// When the first one began, in ticks, kept or not.
    pub(crate) fn first(&self) -> Option<u64> {
        self.before.first.or(self.all.first().map(|window| window.from))
    }

    /// How long was recorded so far, in ticks.
    pub(crate) fn recorded_until(&self, now: u64) -> u64 {
        let length = |window: &Window| window.to.unwrap_or(now).saturating_sub(window.from);
        self.before.recorded + self.all.iter().map(length).sum::<u64>()
    }

    /// Whether there are so many that older ones are to go.
    fn are_too_many(&self) -> bool {
        self.all.len() > MOST + MORE
    }

    /// Up to when events are evicted, in ticks, if there are too many windows.
    pub(crate) fn evictable_until(&self) -> Option<u64> {
        let first = self.all.len().checked_sub(MOST).filter(|_| self.are_too_many())?;
        Some(self.all[first].from.saturating_sub(1))
    }

    /// Keeps no longer the windows of which no event is kept: all up to `ticks` are evicted, and added up.
    pub(crate) fn forget(&mut self, ticks: u64, live_tasks: &mut LiveTasks, sums: &mut Sums) {
        live_tasks.advance_to(ticks, &self.all);
        let over = live_tasks.windows_before();
        if over == 0 {
            return;
        }
        sums.enter_window(over, &self.all);
        self.before.take(&mut self.all, over, sums.reset_at());
        live_tasks.forget_windows(over);
        sums.forget_windows(over);
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
        self.take_anchor();
        let mut windows = lock(&self.windows);
        if std::mem::replace(&mut windows.is_wanted, true) {
            return;
        }
        // Hooks are to find out no more than whether that has changed.
        crate::sys::filter::allows_all();
        self.read_limit_at_start();
        self.note_steal();
        background::recorder_started(self);
        if self.config.trace_target.tracks_tasks() {
            waits::prepare();
        }
        let most = self.config.max_events.max(MOST);
        windows.is_full |= self.config.keep == Keep::First && windows.all.len() >= most;
        match windows.is_full {
            true => self.mode.change(|_| Some(Mode::Full)),
            false => self.begin_window(&mut windows, Window::new(self.clock.ticks(), None)),
        }
        let has_too_many = self.config.keep == Keep::Last && windows.are_too_many();
        drop(windows);
        if has_too_many && !background::is_forked() {
            self.flush();
        }
    }

    /// Stops recording. Has no effect if it is stopped.
    pub(crate) fn stop(&self) {
        self.take_anchor();
        if self.stop_without_a_look() {
            self.clock.check_source();
            if !background::is_forked() {
                // Nobody looks any more whether threads need them.
                self.take_back(0);
            }
        }
    }

    /// The same of a recorder that nobody asks any more: the last that has it may be a hook, which has little stack.
    /// Returns whether it was started.
    pub(super) fn stop_without_a_look(&self) -> bool {
        // In the child of a fork it may stay locked for ever.
        let windows = if background::is_forked() {
            try_lock(&self.windows)
        } else {
            Some(lock(&self.windows))
        };
        let Some(mut windows) = windows else { return false };
        let was_started = std::mem::replace(&mut windows.is_wanted, false);
        if was_started {
            self.mode.change(|_| Some(Mode::Off));
            windows.end(self.clock.ticks());
            background::recorder_stopped(self);
            self.read_limit_at_stop();
        }
        was_started
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
            self.begin_window(&mut windows, Window::new(self.clock.ticks(), None));
        }
    }

    /// Takes an anchor of the clock in a hook, if one is due.
    #[inline]
    pub(crate) fn add_anchor_in_hook(&self) {
        if self.clock.is_due() {
            self.clock.add_anchor();
        }
    }

    /// Takes an anchor of the clock if one is due. Where that shows that the clock jumped, a new window begins: a poll
    /// that spans it is cut, and what is between isn't recorded time.
    #[inline]
    pub(crate) fn take_anchor(&self) {
        if self.clock.is_due() {
            self.take_anchor_now();
        }
    }

    #[cold]
    #[inline(never)]
    fn take_anchor_now(&self) {
        // Where only hooks took anchors, there may be several.
        while let Some(found) = self.clock.take_anchor() {
            match found {
                Found::JumpSomewhere => {}
                Found::Jump(jump) => self.split_window(jump.from, jump.to),
                Found::WentBack(at) => self.split_window(at, at),
            }
        }
    }

    /// The open window ends at `to`, and another begins at `from`, in ticks.
    #[inline(never)]
    fn split_window(&self, to: u64, from: u64) {
        // The child of a fork doesn't wait: the poll that spans the jump is told wrong there.
        let windows = match background::is_there() {
            true => Some(lock(&self.windows)),
            false => try_lock(&self.windows),
        };
        let Some(mut windows) = windows else { return };
        let Some(Window { from: began, to: None, .. }) = windows.all.last().copied() else {
            return;
        };
        if windows.is_wanted && began < from {
            windows.end(to.max(began));
            let next = Window { is_after_jump: true, ..Window::new(from, None) };
            self.begin_window(&mut windows, next);
        }
    }

    fn begin_window(&self, windows: &mut Windows, window: Window) {
        // Every task may be late, until an upper bound is known.
        let late = Arc::new(LateTasks::new());
        // Dropped after the lock is released: hooks wait for it.
        let _before = std::mem::replace(&mut *lock(&self.late), Arc::clone(&late));
        let is_first = windows.all.is_empty();
        windows.all.push(window);
        self.window_from.store(window.from, Ordering::Relaxed);
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
