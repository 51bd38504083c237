//! Limits a capture to `max_events`: eviction is by the chunk, so the store may hold some more.

use crate::config::Keep;
use crate::recorder::capture::Capture;
use crate::recorder::record::Kind;
use crate::recorder::store::oldest::{oldest, until};
use crate::recorder::store::segment::{first_event, last_event};
use crate::recorder::window::Window;

impl Capture {
    /// Removes the events beyond `max_stored` of the `stored` ones, and adds the others to the sums, too, up to `end`.
    pub(crate) fn limit(
        &mut self,
        (stored, max_stored): (u64, u64),
        is_full: bool,
        end: u64,
        windows: &[Window],
    ) {
        self.cut((stored, max_stored), is_full, windows);
        self.add_up(end, windows);
        self.recorded.clone_from(&self.windows);
        self.detail = self.begin;
    }

    /// Removes the events beyond `max_stored`: the oldest or the newest, over all threads.
    fn cut(&mut self, (stored, max_stored): (u64, u64), is_full: bool, windows: &[Window]) {
        let surplus = stored.saturating_sub(max_stored);
        let keep = self.config.keep;
        match keep {
            Keep::Last if surplus > 0 => self.cut_oldest(surplus, stored, windows),
            Keep::First if surplus > 0 => self.cut_newest(self.config.max_events as u64, stored),
            _ => {}
        }
        if is_full || keep == Keep::First && surplus > 0 {
            // Nothing is known after the last kept event.
            self.end = last_event(&self.segments).unwrap_or(self.begin);
            self.windows.retain(|&(from, _)| from <= self.end);
            if let Some((_, to)) = self.windows.last_mut() {
                *to = self.end;
            }
        }
        if self.memory.live_tasks.has_evicted() {
            let first = first_event(&self.segments);
            self.begin = first.unwrap_or(self.end);
            self.memory.live_tasks.advance_to(first.unwrap_or(u64::MAX), windows);
        }
    }

    fn cut_oldest(&mut self, surplus: u64, stored: u64, windows: &[Window]) {
        let oldest = oldest(&self.segments, surplus, stored);
        let mut dropped = Vec::new();
        for (segment, n) in self.segments.iter_mut().zip(oldest) {
            let old = segment.split_front(n);
            for record in old.records() {
                if record.kind() == Kind::Terminate {
                    self.ended.push((record.payload(), record.ticks));
                }
            }
            dropped.push(old);
        }
        self.memory.update(&dropped, windows);
    }

    /// Removes all but the `kept` oldest events.
    fn cut_newest(&mut self, kept: u64, stored: u64) {
        let oldest = oldest(&self.segments, kept, stored);
        for (segment, n) in self.segments.iter_mut().zip(oldest) {
            segment.truncate(n);
        }
    }

    /// Adds what is kept to the sums, up to `end`.
    fn add_up(&mut self, end: u64, windows: &[Window]) {
        let before = self.memory.live_tasks.clone();
        self.memory.update(&self.segments, windows);
        self.memory.sums.live_tasks = self.memory.live_tasks.spawned_tasks();
        self.memory.live_tasks = before;
        let ends_with_last = self.config.keep == Keep::First && end > self.end;
        match last_event(&self.segments) {
            Some(last) if ends_with_last => self.memory.sums.finish(last, &until(last, windows)),
            _ => self.memory.sums.finish(end, windows),
        }
    }
}
