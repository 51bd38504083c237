//! Eviction: what leaves the store is looked through for long polls before it is dropped.
//!
//! Evicted records are staged until it is known whether any poll around them is among the longest of the run. If so,
//! they stay in a [pinned window](pinned). The rest is applied to the [`Memory`] and dropped. A hook that has to evict
//! only stages records. If they aren't looked through for long, all staged records are dropped.

#[cfg(has_black_box)]
mod boxed;
mod long_polls;
pub(crate) mod pinned;
#[cfg(test)]
mod tests;

use crate::recorder::memory::Memory;
use crate::recorder::memory::eviction::long_polls::{LongPoll, Scan};
use crate::recorder::memory::eviction::pinned::{PinnedWindows, Place};
use crate::recorder::memory::live_tasks::LiveTasks;
use crate::recorder::store::segment::{Segment, events_between, events_of};
use crate::recorder::window::{Window, window_of};

/// The records that left the store: those that are staged, and those that are pinned.
#[derive(Debug)]
pub(crate) struct Eviction {
    /// The staged records, those of each stream in order. Kept for its memory, as hooks evict.
    pub(crate) staged: Vec<Segment>,
    pub(crate) staged_events: u64,
    /// The number of segments in `staged` that were looked through.
    looked_through: usize,
    /// Everything up to this time is staged, or was, in ticks.
    until: u64,
    /// Everything up to this time is dropped or pinned.
    done_until: u64,
    scan: Scan,
    pub(crate) pinned: PinnedWindows,
    /// The segments that are dropped next; kept for its memory.
    leaving: Vec<Segment>,
}

/// The limits within which evicted records are looked through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The length from which on a poll is long, in ticks.
    pub(crate) long_poll: u64,
    /// The time before and after a long poll that is pinned, in ticks.
    pub(crate) around: u64,
    /// The most events that may be staged.
    pub(crate) staged_events: u64,
}

impl Eviction {
    /// Creates an eviction that pins up to `pinned_events` events in all.
    pub(crate) fn new(pinned_events: u64) -> Self {
        Self {
            staged: Vec::new(),
            staged_events: 0,
            looked_through: 0,
            until: 0,
            done_until: 0,
            scan: Scan::default(),
            pinned: PinnedWindows::new(pinned_events),
            leaving: Vec::new(),
        }
    }

    /// Notes that `events` events up to `until` were added to `staged`.
    pub(crate) fn has_staged(&mut self, events: u64, until: u64) {
        self.staged_events += events;
        self.until = self.until.max(until);
    }

    /// Returns the time up to which everything is dropped or pinned, in ticks.
    pub(crate) fn done_until(&self) -> u64 {
        self.done_until
    }

    /// Returns whether any segment wasn't looked through yet.
    pub(crate) fn is_behind(&self) -> bool {
        self.looked_through < self.staged.len()
    }

    /// Looks through what is staged. What isn't pinned is added up, dropped, and passed to `recycle`. Returns the
    /// number of events dropped.
    pub(crate) fn look_through(
        &mut self,
        limits: Limits,
        memory: &mut Memory,
        windows: &[Window],
        recycle: &mut dyn FnMut(Segment),
    ) -> u64 {
        let new = &mut self.staged[self.looked_through..];
        Segment::sort(new);
        self.scan.read(new, limits.long_poll, &memory.live_tasks);
        self.looked_through = self.staged.len();
        self.scan.forget_before(self.until, windows);
        let mut dropped = 0;
        for poll in self.scan.take_found() {
            let place = self.place(poll, false, limits, &memory.live_tasks, windows);
            if let Some(place) = place {
                dropped += self.pinned.pin(poll, &place);
            }
        }
        // Up to here everything can be dropped: the polls that begin within `around` after it have all ended.
        let mut begins = self.until;
        for open in self.scan.open(self.done_until) {
            begins = begins.min(open.start);
        }
        let edge = begins.saturating_sub(limits.around);
        dropped += self.drop_until(edge, memory, windows, recycle);
        if self.staged_events > limits.staged_events {
            // The polls go on for so long that not all that comes in meanwhile can wait for their ends.
            for poll in self.scan.open(self.done_until) {
                let poll = LongPoll { end: self.until.max(poll.start), ..poll };
                if poll.length() >= limits.long_poll {
                    let place = self.place(poll, true, limits, &memory.live_tasks, windows);
                    if let Some(place) = place {
                        dropped += self.pinned.pin_open(poll, &place);
                    }
                }
            }
            let edge = self.until.saturating_sub(limits.around);
            dropped += self.drop_until(edge, memory, windows, recycle);
        }
        if self.staged_events > limits.staged_events {
            dropped += self.drop_until(self.until, memory, windows, recycle);
        }
        dropped
    }

    /// Returns the time around `poll` to pin. `None` if it isn't among the longest, its beginning is gone, or it was
    /// open when recording stopped.
    fn place(
        &self,
        poll: LongPoll,
        is_open: bool,
        limits: Limits,
        live_tasks: &LiveTasks,
        windows: &[Window],
    ) -> Option<Place> {
        let window = window_of(poll.start, windows)?;
        if window_of(poll.end, windows) != Some(window) {
            return None;
        }
        let location = match live_tasks.task(poll.task) {
            Some(task) => task.location,
            None => long_polls::location(&self.staged, poll.task),
        };
        if !self.pinned.wants(&poll, location, is_open) {
            return None;
        }
        let first = window.from.max(self.done_until + 1);
        let has_begun = self.pinned.has_begun(&poll);
        if first > poll.start && !has_begun {
            return None;
        }
        let last = window.to.unwrap_or(u64::MAX);
        let room = self.pinned.room_for(&poll);
        // Notes are up to a third of the records.
        let number = |from, to| events_between(&self.staged, from, to);
        // If much is around the poll, less of that is kept.
        let from = |at: u64, most| {
            let earliest = at.saturating_sub(limits.around).max(first).min(at);
            at - longest(at - earliest, &|ticks| number(at - ticks, at) <= most)
        };
        // The records after the poll may not be here yet. A pinned window ends when it has as many events as it may.
        let to = |at: u64| at.saturating_add(limits.around).min(last);
        let whole = (from(poll.start, room / 4), to(poll.end));
        let fits = !is_open && number(poll.start, poll.end) <= room / 2;
        if fits && !has_begun {
            return Some(Place { location, begin: whole, end: whole, room });
        }
        // Each side of each edge gets a quarter.
        let room = room.min(self.pinned.most_events() / 2);
        let most = room / 4;
        let after = longest(to(poll.start) - poll.start, &|ticks| {
            number(poll.start, poll.start + ticks) <= most
        });
        let begin = (from(poll.start, most), poll.start + after);
        let end = (from(poll.end, most), to(poll.end));
        Some(Place { location, begin, end, room })
    }

    /// Sorts all that is staged, before it is [given up](Self::give_up).
    #[inline(never)]
    pub(crate) fn sort(&mut self) {
        Segment::sort(&mut self.staged);
    }

    /// Drops all that is staged without looking through it. It must be [sorted](Self::sort), and applied to
    /// [`LiveTasks`]. Calls `recycle` with it. Returns the number of events dropped.
    #[inline(never)]
    pub(crate) fn give_up(&mut self, recycle: &mut dyn FnMut(Segment)) -> u64 {
        self.pinned.note_ends(&self.staged);
        for segment in self.staged.drain(..) {
            recycle(segment);
        }
        self.scan = Scan::default();
        (self.looked_through, self.done_until) = (0, self.until);
        self.pinned.cut_off();
        std::mem::take(&mut self.staged_events)
    }

    /// Removes all that is staged or pinned, for a drain at `now`.
    pub(crate) fn clear(&mut self, now: u64) {
        self.staged.clear();
        (self.staged_events, self.looked_through) = (0, 0);
        (self.until, self.done_until) = (now, now);
        self.scan = Scan::default();
        self.pinned.clear();
    }

    /// Drops what is staged up to `edge`, except for what is pinned. Returns the number of events dropped.
    fn drop_until(
        &mut self,
        edge: u64,
        memory: &mut Memory,
        windows: &[Window],
        recycle: &mut dyn FnMut(Segment),
    ) -> u64 {
        let mut dropped = 0;
        while self.done_until < edge {
            match self.pinned.next_begin(self.done_until) {
                // The state at the beginning of a pinned window is kept with it.
                Some(begin) if begin <= edge => {
                    if begin - 1 > self.done_until {
                        dropped += self.step(begin - 1, memory, windows, recycle);
                    }
                    self.pinned.enter(begin, &memory.live_tasks);
                }
                _ => dropped += self.step(edge, memory, windows, recycle),
            }
        }
        dropped
    }

    /// Does the same up to `until`, if no pinned window begins before that.
    fn step(
        &mut self,
        until: u64,
        memory: &mut Memory,
        windows: &[Window],
        recycle: &mut dyn FnMut(Segment),
    ) -> u64 {
        self.done_until = until;
        for segment in &mut self.staged {
            if segment.records().first().is_some_and(|record| record.ticks <= until) {
                self.leaving.push(segment.split_until(until));
            }
        }
        Segment::retain_full(&mut self.staged);
        self.looked_through = self.staged.len();
        // Late records may be out of order across batches.
        Segment::sort(&mut self.leaving);
        let events = events_of(&self.leaving);
        self.staged_events = self.staged_events.saturating_sub(events);
        let kept = self.pinned.keep(&self.leaving, &memory.live_tasks);
        memory.update(&self.leaving, windows);
        for segment in self.leaving.drain(..) {
            recycle(segment);
        }
        self.pinned.end_until(until);
        (events + kept.dropped).saturating_sub(kept.kept)
    }
}

/// Returns the longest time up to `most` that `fits`, to a thousandth of `most`. If a time fits, all shorter times do.
/// Tries short times first, as what is in a long time is counted record by record.
fn longest(most: u64, fits: &dyn Fn(u64) -> bool) -> u64 {
    let precision = most / 1000 + 1;
    let (mut short, mut long) = (0, precision.min(most));
    while fits(long) {
        if long == most {
            return most;
        }
        (short, long) = (long, long.saturating_mul(4).min(most));
    }
    while long - short > precision {
        let middle = short + (long - short) / 2;
        *(if fits(middle) { &mut short } else { &mut long }) = middle;
    }
    short
}
