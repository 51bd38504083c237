//! The remains of evicted records: the tasks that live, sums, and the records around the longest polls.
//!
//! Evicted records pass through [`eviction`], which pins what is around the longest polls. What it drops is applied to
//! the [`Memory`]: first to [`live_tasks`], then to [`sums`].

mod by_id;
mod by_window;
pub(crate) mod eviction;
pub(crate) mod live_tasks;
pub(crate) mod sums;

use crate::recorder::memory::by_window::{ByWindow, Runs};
use crate::recorder::memory::live_tasks::LiveTasks;
use crate::recorder::memory::sums::Sums;
use crate::recorder::store::segment::Segment;
use crate::recorder::window::{Window, Windows};

/// The effect of the records that are no longer kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) live_tasks: LiveTasks,
    pub(crate) sums: Sums,
    /// Only used during an update; kept for its memory, as hooks evict.
    by_window: ByWindow,
}

impl Memory {
    /// Returns a copy without sums.
    pub(crate) fn with_live_tasks_only(&self) -> Self {
        Self { live_tasks: self.live_tasks.clone(), ..Self::default() }
    }

    /// Applies evicted records, those of each stream in their order. `windows` are the windows that are kept.
    pub(crate) fn update(&mut self, segments: &[Segment], windows: &[Window]) {
        let mut last_ticks = None;
        for segment in segments {
            last_ticks = last_ticks.max(segment.records().last().map(|record| record.ticks));
        }
        let Some(last_ticks) = last_ticks else { return };
        if self.live_tasks.next_window(last_ticks, windows).is_some() {
            self.update_by_window(segments, last_ticks, windows);
        } else {
            self.update_from(Runs::whole(segments), windows);
        }
    }

    /// Applies records of several windows.
    #[inline(never)]
    fn update_by_window(&mut self, segments: &[Segment], last_ticks: u64, windows: &[Window]) {
        let mut by_window = std::mem::take(&mut self.by_window);
        by_window.begin(segments);
        // Earlier records are late: their hook read the clock in an earlier window, and recorded them in this one.
        while let Some(next) = self.live_tasks.next_window(last_ticks, windows) {
            by_window.take_until(segments, next.from);
            self.update_from(by_window.runs(segments), windows);
            self.live_tasks.enter_next_window(windows);
        }
        by_window.take_all(segments);
        self.update_from(by_window.runs(segments), windows);
        by_window.end();
        self.by_window = by_window;
    }

    /// Applies records of one window.
    fn update_from(&mut self, runs: Runs<'_>, windows: &[Window]) {
        self.live_tasks.update(runs.clone());
        // Added up while all tasks are known.
        self.sums.add(runs, &self.live_tasks, windows, self.live_tasks.window());
        self.live_tasks.end_update();
    }

    /// Forgets the windows of which no event is kept, as everything up to `ticks` was applied.
    pub(crate) fn forget_windows(&mut self, ticks: u64, windows: &mut Windows) {
        self.live_tasks.advance_to(ticks, &windows.all);
        let over = self.live_tasks.window();
        if over > 0 {
            self.sums.enter_window(over, &windows.all);
            windows.before.take(&mut windows.all, over, self.sums.reset_at());
            self.live_tasks.forget_windows(over);
            self.sums.forget_windows(over);
        }
    }
}

#[cfg(has_black_box)]
impl crate::util::plain::Plain for Memory {
    fn write(&self, into: &mut Vec<u8>) {
        let Self { live_tasks, sums, by_window: _ } = self;
        live_tasks.write(into);
        sums.write(into);
    }

    #[cfg(feature = "read")]
    fn read(from: &mut crate::util::plain::Bytes<'_>) -> Option<Self> {
        let (live_tasks, sums) = <_>::read(from)?;
        Some(Self { live_tasks, sums, by_window: ByWindow::default() })
    }
}
