//! The windows of recording: when each began and ended, and sums of those that are no longer kept.
//!
//! A window ends when recording is stopped, and with `keep = "first"` when `max_events` are kept: nothing is known
//! about the time afterwards. The next begins when recording is started, or after a drain. If the clock jumped, for
//! example while the machine slept, one window ends and another begins.
//!
//! A window is kept until the events in it are evicted. If there are very many windows, their events are evicted for
//! that reason, so that a program may start and stop recording as often as it likes. With `keep = "first"` nothing is
//! evicted: then no more windows begin than `max_events`, until a drain.

pub(crate) mod before;
pub(crate) mod current;
pub(crate) mod late_tasks;
pub(crate) mod mode;
pub(crate) mod stops;

use crate::recorder::window::before::{MORE, MOST, WindowsBefore};

/// A period of time in which events were recorded, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: u64,
    /// The end; `None` while it is open.
    pub(crate) to: Option<u64>,
    /// `true` if the clock jumped before it, so that nothing was missed in between.
    pub(crate) is_after_jump: bool,
}

impl Window {
    pub(crate) const fn new(from: u64, to: Option<u64>) -> Self {
        Self { from, to, is_after_jump: false }
    }
}

/// The windows that are kept, and the flags that decide whether another begins. The mode is only changed while this is
/// locked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Windows {
    /// The windows that are kept: at least one, once one has begun.
    pub(crate) all: Vec<Window>,
    pub(crate) before: WindowsBefore,
    /// `true` if recording is started.
    pub(crate) is_wanted: bool,
    /// `true` if `max_events` are kept, with `keep = "first"`, and were not drained yet.
    pub(crate) is_full: bool,
}

impl Windows {
    /// Returns when the first of all windows began, in ticks, even if it is no longer kept.
    pub(crate) fn first(&self) -> Option<u64> {
        self.before.first.or(self.all.first().map(|window| window.from))
    }

    /// Returns the time that was recorded so far, in ticks.
    pub(crate) fn recorded_until(&self, now: u64) -> u64 {
        let mut recorded = self.before.recorded;
        for window in &self.all {
            recorded += window.to.unwrap_or(now).saturating_sub(window.from);
        }
        recorded
    }

    /// Returns whether there are too many windows, so that older ones have to go.
    pub(crate) fn are_too_many(&self) -> bool {
        self.all.len() > MOST + MORE
    }

    /// Returns the time up to which events are evicted, in ticks, if there are too many windows.
    pub(crate) fn evictable_until(&self) -> Option<u64> {
        if !self.are_too_many() {
            return None;
        }
        Some(self.all[self.all.len() - MOST].from.saturating_sub(1))
    }

    /// Returns whether another window may begin, if events beyond `max_events` are refused.
    pub(crate) fn has_room(&self, max_events: usize) -> bool {
        self.all.len() < max_events.max(MOST)
    }

    /// Ends the window that is open, if one is.
    pub(crate) fn end(&mut self, ticks: u64) {
        if let Some(window @ Window { to: None, .. }) = self.all.last_mut() {
            window.to = Some(ticks);
        }
    }
}

/// Returns the last window that begins no later than `ticks`.
pub(crate) fn window_of(ticks: u64, windows: &[Window]) -> Option<Window> {
    let after = windows.partition_point(|window| window.from <= ticks);
    windows.get(after.checked_sub(1)?).copied()
}

#[cfg(has_black_box)]
crate::util::plain::plain! {
    Window { from, to, is_after_jump }
    Windows { all, before, is_wanted, is_full }
}
