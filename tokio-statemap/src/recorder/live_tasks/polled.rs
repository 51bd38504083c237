//! Who was polled of late.

use crate::recorder::boxed::boxed_array;
use crate::recorder::record::{Kind, Record};

/// The ends of the polls that came last, by the lower bits of the task's number: a small cache.
#[derive(Clone, Debug)]
pub(super) struct RecentlyPolled(Box<[Record; Self::PLACES]>);

impl RecentlyPolled {
    pub(super) const PLACES: usize = 1024;

    /// What comes after the whole polls that `records` begin with, of tasks that are here.
    pub(super) fn skip_known<'a>(&self, mut records: &'a [Record]) -> &'a [Record] {
        while let [start, end, rest @ ..] = records {
            let known = self.0[end.payload() as usize % Self::PLACES];
            if !(known.equals_but_for_time(*end) && start.starts_poll_to(*end)) {
                break;
            }
            records = rest;
        }
        records
    }

    /// Whether `id` wasn't here; it is now.
    pub(super) fn is_news(&mut self, id: u64) -> bool {
        let place = &mut self.0[id as usize % Self::PLACES];
        let end = Record::new(0, Kind::PollEnd, id);
        !std::mem::replace(place, end).equals_but_for_time(end)
    }

    /// Nobody is here any more.
    pub(super) fn clear(&mut self) {
        self.0.fill(nobody());
    }
}

/// No end of a poll.
fn nobody() -> Record {
    Record::new(0, Kind::Stream, u64::MAX)
}

impl Default for RecentlyPolled {
    fn default() -> Self {
        Self(boxed_array(nobody()))
    }
}
