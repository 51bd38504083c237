//! The tasks that were polled recently.

use crate::recorder::boxed::boxed_array;
use crate::recorder::record::{Kind, Record, after_note};

/// The most recent ends of polls, by the lower bits of the task id: a direct-mapped cache.
#[derive(Clone, Debug)]
pub(super) struct RecentlyPolled(Box<[Record; Self::SLOTS]>);

impl RecentlyPolled {
    pub(super) const SLOTS: usize = 1024;

    /// Skips the whole polls at the start of `records` whose tasks are in the cache, and wait where they waited before.
    pub(super) fn skip_known<'a>(&mut self, mut records: &'a [Record]) -> &'a [Record] {
        while let [start, end, rest @ ..] = after_note(records) {
            let Some(id) = end.poll_end() else { break };
            let known = &mut self.0[id as usize % Self::SLOTS];
            if !(known.equals_but_for_time(*end) && start.starts_poll_of(id)) {
                break;
            }
            known.ticks = end.ticks.max(known.ticks);
            records = rest;
        }
        records
    }

    /// Adds the end of a poll. Returns the record that it replaced, if that was of another task, or the task waited
    /// elsewhere.
    #[inline]
    pub(super) fn insert(&mut self, end: Record) -> Option<Record> {
        let id = end.poll_end()?;
        let place = &mut self.0[id as usize % Self::SLOTS];
        // The streams are read one after the other, so a poll may be older than the one before.
        if place.ticks > end.ticks && place.poll_end() == Some(id) {
            return None;
        }
        let before = std::mem::replace(place, end);
        (!before.equals_but_for_time(end)).then_some(before)
    }

    /// Returns when the last poll of the task `id` ended, if that is in the cache.
    pub(super) fn last_end(&self, id: u64) -> Option<u64> {
        let known = self.0[id as usize % Self::SLOTS];
        (known.poll_end() == Some(id)).then_some(known.ticks)
    }

    /// Removes the poll in this slot. Returns it, if there was one.
    pub(super) fn remove(&mut self, slot: usize) -> Option<Record> {
        let before = std::mem::replace(&mut self.0[slot], empty());
        (before != empty()).then_some(before)
    }
}

/// Returns a record that isn't the end of a poll.
fn empty() -> Record {
    Record::new(0, Kind::Stream, u64::MAX)
}

impl Default for RecentlyPolled {
    fn default() -> Self {
        Self(boxed_array(empty()))
    }
}
