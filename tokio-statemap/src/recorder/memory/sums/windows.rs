//! Windows of recording, which cut polls where they end, and resets, from which on the sums begin anew.

use std::cmp::Reverse;

use crate::recorder::memory::by_id::place_of;
use crate::recorder::memory::sums::{LocationSums, Longest, LongestPoll, Stretches, Sums};
use crate::recorder::store::segment::Segment;
use crate::recorder::window::Window;

impl Sums {
    /// Enters a later window. Polls that were open when a window ended are known up to its end.
    #[inline(never)]
    pub(crate) fn enter_window(&mut self, window: usize, windows: &[Window]) {
        if !self.has_begun {
            self.has_begun = true;
            self.window_from = windows.first().map_or(0, |first| first.from);
            self.longest.reserve();
            if self.stretches.is_empty() {
                self.stretches = Stretches::since(self.window_from.max(self.reset_at));
            }
        }
        while self.window < window {
            let ended = windows.get(self.window).and_then(|window| window.to);
            self.end_window(ended.unwrap_or(self.window_from));
            self.window += 1;
            self.window_from = windows.get(self.window).map_or(0, |window| window.from);
            let from = self.window_from;
            for (_, worker) in &mut self.workers {
                worker.skip_to(from);
            }
        }
    }

    fn end_window(&mut self, at: u64) {
        let mut threads = std::mem::take(&mut self.threads);
        for (_, thread) in &mut threads {
            for poll in std::mem::take(&mut thread.state.polls) {
                // If the window ended before a reset, the poll is in the sums before that.
                if self.reset_at == 0 || at > self.reset_at {
                    self.cut_polls += 1;
                    let end = poll.more.held_until.unwrap_or(at);
                    let is_cut = poll.more.held_until.is_none();
                    self.poll(&poll, end.clamp(poll.start, at.max(poll.start)), is_cut);
                }
            }
            thread.acts.enter_window();
        }
        self.threads = threads;
        let from = self.window_from.max(self.reset_at);
        for (_, worker) in &mut self.workers {
            worker.add_up(at, from);
        }
    }

    /// Forgets the first `n` windows. These and the next one were entered.
    pub(crate) fn forget_windows(&mut self, n: usize) {
        self.window -= n;
    }

    /// Adds up the polls that still run at `now`, after the last records.
    pub(crate) fn finish(&mut self, now: u64, windows: &[Window]) {
        self.enter_window(windows.len().saturating_sub(1), windows);
        let ended = windows.get(self.window).and_then(|window| window.to);
        if ended.is_none() {
            self.note_running(now);
        }
        let cut_before = self.cut_polls;
        self.end_window(ended.unwrap_or(now));
        if ended.is_none() {
            self.running_polls = self.cut_polls - cut_before;
            self.cut_polls = cut_before;
        }
    }

    /// Notes the polls that still run at `now`, as [`end_window`](Self::end_window) adds them up.
    fn note_running(&mut self, now: u64) {
        if self.reset_at > 0 && now <= self.reset_at {
            return;
        }
        for (_, thread) in &self.threads {
            for poll in &thread.state.polls {
                let end = poll.more.held_until.unwrap_or(now);
                self.running.push(LongestPoll {
                    length: end.clamp(poll.start, now.max(poll.start)) - poll.start,
                    start: Reverse(poll.start),
                    task: Reverse(poll.task),
                    row: poll.more.row,
                    worker: poll.more.worker,
                    is_cut: poll.more.held_until.is_none(),
                });
            }
        }
    }

    /// Begins anew at `now`. The records in `segments`, which are all that are not added up yet, won't count once they
    /// are added up.
    pub(crate) fn reset(&mut self, now: u64, segments: &[Segment]) {
        // The rows stay, as open polls have their places.
        for row in &mut self.rows {
            *row = LocationSums::new(row.key);
        }
        self.stretches = Stretches::since(now);
        self.longest = Longest::default();
        self.longest.reserve();
        (self.cut_polls, self.reset_at) = (0, now);
        for (_, worker) in &mut self.workers {
            worker.reset();
        }
        for (_, thread) in &mut self.threads {
            thread.before_reset = 0;
        }
        for segment in segments {
            let place = place_of(&mut self.threads, segment.stream);
            self.threads[place].1.before_reset += segment.records().len();
        }
    }
}
