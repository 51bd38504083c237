//! Begins and ends windows of recording.

use std::time::Duration;

use crate::config::Keep;
use crate::recorder::clock::Found;
use crate::recorder::kept::Kept;
use crate::recorder::locks::{lock, lock_unless, try_lock};
use crate::recorder::process;
#[cfg(has_black_box)]
use crate::recorder::store::tap::Tapped;
use crate::recorder::window::mode::Mode;
use crate::recorder::window::{Window, Windows};

impl Kept {
    /// Starts recording, after calling `prepare`. Has no effect if recording is started.
    pub(crate) fn start(&self, prepare: impl FnOnce()) {
        self.take_anchor();
        let mut windows = lock(&self.windows);
        if std::mem::replace(&mut windows.is_wanted, true) {
            return;
        }
        prepare();
        let refuses = self.config.keep == Keep::First;
        windows.is_full |= refuses && !windows.has_room(self.config.max_events);
        match windows.is_full {
            true => self.mode.change(|_| Some(Mode::Full)),
            false => self.begin_window(&mut windows, Window::new(self.clock.ticks(), None)),
        }
        let has_too_many = !refuses && windows.are_too_many();
        drop(windows);
        if has_too_many && !process::is_forked() {
            self.flush();
        }
    }

    /// Stops recording, and then calls `finish`. Returns whether recording was started.
    pub(crate) fn stop(&self, finish: impl FnOnce()) -> bool {
        // In the child of a fork it may stay locked for ever.
        let Some(mut windows) = lock_unless(&self.windows, process::is_forked) else {
            return false;
        };
        let was_started = std::mem::replace(&mut windows.is_wanted, false);
        if was_started {
            self.mode.change(|_| Some(Mode::Off));
            windows.end(self.clock.ticks());
            finish();
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

    /// Takes an anchor of the clock if one is due. If that shows that the clock jumped, a new window begins: a poll
    /// that spans the jump is cut, and the time of the jump isn't recorded time.
    #[inline]
    pub(crate) fn take_anchor(&self) {
        if self.clock.is_due() {
            self.take_anchor_now();
        }
    }

    #[cold]
    #[inline(never)]
    fn take_anchor_now(&self) {
        // If only hooks took anchors, there may be several findings.
        while let Some(found) = self.clock.take_anchor() {
            match found {
                Found::JumpSomewhere => {}
                Found::Jump(jump) => self.split_window(jump.from, jump.to),
                Found::WentBack(at) => self.split_window(at, at),
            }
        }
    }

    /// Ends the open window at `to` and begins another at `from`, in ticks.
    #[inline(never)]
    fn split_window(&self, to: u64, from: u64) {
        // The child of a fork doesn't wait: there, the length of the poll that spans the jump may be wrong.
        let Some(mut windows) = lock_unless(&self.windows, || !process::is_there()) else { return };
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
        let is_first = windows.all.is_empty();
        windows.all.push(window);
        self.current.begin((window.from, is_first), process::is_forked, || {
            self.mode.begin_window(if self.clock.is_tsc() { Mode::FastPath } else { Mode::On });
        });
    }

    /// Returns whether recording is started. This stays `true` while the store is full and nothing is recorded.
    pub(crate) fn is_recording(&self) -> bool {
        self.mode.get() != Mode::Off
    }

    /// Returns when the open window began, in ticks; `None` if nothing is recorded. Takes no lock, as hooks that find
    /// the windows locked leave their work to the next hook.
    pub(crate) fn recording_since(&self) -> Option<u64> {
        let records = matches!(self.mode.get(), Mode::On | Mode::FastPath);
        records.then(|| self.current.from())
    }

    /// Returns the time that was recorded so far, in ticks.
    pub(crate) fn recorded_ticks(&self) -> u64 {
        lock(&self.windows).recorded_until(self.clock.ticks())
    }

    /// Returns UTC at the start of the first window, since the Unix epoch.
    pub(crate) fn utc_at_zero(&self) -> Duration {
        let first = lock(&self.windows).first();
        let since_clock = first.map_or(0, |ticks| self.clock.ns(ticks));
        self.clock.utc_at_start() + Duration::from_nanos(since_clock)
    }
}

#[cfg(has_black_box)]
impl Kept {
    /// Returns when the first window began, in ticks.
    pub(crate) fn first_window(&self) -> Option<u64> {
        lock(&self.windows).first()
    }

    /// Returns the windows that are kept.
    pub(crate) fn all_windows(&self) -> Vec<Window> {
        lock(&self.windows).all.clone()
    }

    /// Returns whether events are refused, as `max_events` are kept.
    pub(crate) fn is_full(&self) -> bool {
        lock(&self.windows).is_full
    }

    /// Takes the records that entered the store since the last time. Those from now on are copied to `next`, if that is
    /// given.
    pub(crate) fn take_tapped(&self, next: Option<Box<Tapped>>) -> Option<Box<Tapped>> {
        lock(&self.store).take_tapped(next)
    }

    /// Returns how many records entered the store since the last time.
    pub(crate) fn tapped(&self) -> usize {
        lock(&self.store).tapped()
    }
}
