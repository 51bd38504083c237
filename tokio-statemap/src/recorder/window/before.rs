//! The windows of recording that are no longer kept, as all their records are added up. Only sums of them are left.

use crate::recorder::window::Window;
use crate::recorder::window::stops::{Stop, Stops};

/// The number of windows that are kept one by one. The events in older windows are evicted. (It is smaller in tests,
/// which begin thousands of windows.)
pub(crate) const MOST: usize = if cfg!(test) { 512 } else { 4096 };

/// The number by which [`MOST`] may be exceeded until older windows are evicted.
pub(crate) const MORE: usize = MOST / 8;

/// The windows before those that are kept. Times are in ticks.
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowsBefore {
    /// The beginning of the first of all; `None` if all are kept.
    pub(crate) first: Option<u64>,
    /// The time that was recorded in these windows.
    pub(crate) recorded: u64,
    /// The time that was recorded since the sums began anew, and the moment when they did.
    recorded_since: u64,
    reset_at: u64,
    /// The periods in which recording was stopped since then, up to the first window that is kept.
    stops: Stops,
}

impl WindowsBefore {
    /// Adds the first `n` of `windows`, which are over. The sums began anew at `reset_at`.
    pub(crate) fn take(&mut self, windows: &mut Vec<Window>, n: usize, reset_at: u64) {
        if self.reset_at != reset_at {
            *self =
                Self { first: self.first, recorded: self.recorded, reset_at, ..Self::default() };
        }
        for two in windows.windows(2).take(n) {
            let Window { from, to, .. } = two[0];
            let to = to.unwrap_or(two[1].from);
            self.first.get_or_insert(from);
            self.recorded += to.saturating_sub(from);
            self.recorded_since += to.saturating_sub(from.max(reset_at));
            self.stops.add(Stop::new(to.max(reset_at), two[1].from));
        }
        windows.drain(..n);
    }

    /// Returns the time that was recorded, and the periods in which recording was stopped, since the sums began anew at
    /// `reset_at`.
    pub(crate) fn since(&self, reset_at: u64) -> (u64, impl Iterator<Item = Stop>) {
        // All windows that were added before a reset were over by then.
        let is_since = self.reset_at == reset_at;
        let recorded = if is_since { self.recorded_since } else { 0 };
        (recorded, self.stops.iter().filter(move |_| is_since))
    }
}

#[cfg(has_black_box)]
crate::util::plain::plain! {
    WindowsBefore { first, recorded, recorded_since, reset_at, stops }
}
