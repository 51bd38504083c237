//! The tasks that were polled recently.

use crate::recorder::boxed::boxed_array;
use crate::recorder::record::{Kind, Record};

/// The most recent ends of polls, by the lower bits of the task id: a direct-mapped cache.
#[derive(Clone, Debug)]
pub(super) struct RecentlyPolled(Box<[Record; Self::SLOTS]>);

impl RecentlyPolled {
    pub(super) const SLOTS: usize = 1024;

    /// Skips the whole polls at the start of `records` whose tasks are in the cache.
    pub(super) fn skip_known<'a>(&self, mut records: &'a [Record]) -> &'a [Record] {
        while let [start, end, rest @ ..] = records {
            let known = self.0[end.payload() as usize % Self::SLOTS];
            if !(known.equals_but_for_time(*end) && start.starts_poll_to(*end)) {
                break;
            }
            records = rest;
        }
        records
    }

    /// Adds `id`. Returns whether it was not in the cache.
    pub(super) fn insert(&mut self, id: u64) -> bool {
        let place = &mut self.0[id as usize % Self::SLOTS];
        let end = Record::new(0, Kind::PollEnd, id);
        !std::mem::replace(place, end).equals_but_for_time(end)
    }

    /// Removes all tasks.
    pub(super) fn clear(&mut self) {
        self.0.fill(empty());
    }
}

/// Returns a record that is no end of a poll.
fn empty() -> Record {
    Record::new(0, Kind::Stream, u64::MAX)
}

impl Default for RecentlyPolled {
    fn default() -> Self {
        Self(boxed_array(empty()))
    }
}
