//! The pinned windows in a black box: what a capture takes of them.

#[cfg(feature = "read")]
use std::sync::Arc;

use crate::recorder::memory::eviction::pinned::{PinnedWindow, PinnedWindows};
use crate::util::plain::Plain;
#[cfg(feature = "read")]
use crate::{
    recorder::record::{Record, events_in},
    recorder::store::segment::StreamId,
    util::map::Map,
    util::plain::Bytes,
};

impl PinnedWindows {
    /// Sets the most events of all windows together. One window gets at most an eighth of them, as the longest poll
    /// needn't be that of the culprit. Returns the number of events that were dropped to make room.
    pub(crate) fn limit_to(&mut self, most_events: u64) -> u64 {
        self.most_events = most_events;
        self.most_of_one = most_events / 8;
        self.make_room()
    }
}

impl Plain for PinnedWindows {
    fn write(&self, into: &mut Vec<u8>) {
        self.iter().count().write(into);
        self.iter().for_each(|pin| pin.write(into));
        self.ended().write(into);
    }

    #[cfg(feature = "read")]
    fn read(from: &mut Bytes<'_>) -> Option<Self> {
        let all = <Vec<PinnedWindow>>::read(from)?;
        let ended = <Vec<(u64, u64)>>::read(from)?;
        let are_apart = all.is_sorted_by(|one, next| one.to < next.from);
        let all = all.into_iter().map(Arc::new).collect();
        let read =
            Self { all, most_events: u64::MAX, most_of_one: 0, ended: ended.into_iter().collect() };
        are_apart.then_some(read)
    }
}

impl Plain for PinnedWindow {
    fn write(&self, into: &mut Vec<u8>) {
        // The rest is for windows that aren't complete.
        let Self { from, to, threads, tasks, records, .. } = self;
        (*from, *to).write(into);
        threads.write(into);
        let mut before = Vec::new();
        for (&id, task) in tasks.iter() {
            // The others were spawned in it.
            if let Some(task) = *task {
                before.push((id, task));
            }
        }
        before.write(into);
        records.write(into);
    }

    #[cfg(feature = "read")]
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        let (from, to) = <(u64, u64)>::read(bytes)?;
        let threads = <Vec<(StreamId, _, Vec<bool>)>>::read(bytes)?;
        let before = <Vec<(u64, _)>>::read(bytes)?;
        let records = <Vec<(StreamId, Vec<Record>)>>::read(bytes)?;
        let mut tasks = Map::default();
        for (id, task) in before {
            tasks.insert(id, Some(task));
        }
        let events = records.iter().map(|(_, records)| events_in(records)).sum();
        let read = Self {
            from,
            to,
            poll: (0, 0),
            length: 0,
            location: None,
            go_on: Vec::new(),
            most_events: events,
            is_entered: true,
            is_shrunk: true,
            threads,
            tasks,
            records,
            events,
        };
        read.is_whole().then_some(read)
    }
}

#[cfg(feature = "read")]
impl PinnedWindow {
    /// Returns whether it has events, all of which are in its time and in order, and knows of each poll whether its task
    /// lived.
    fn is_whole(&self) -> bool {
        let are_in_it = |records: &[Record]| {
            records.is_sorted_by_key(|record| record.ticks)
                && records.first().is_some_and(|first| first.ticks >= self.from)
                && records.last().is_some_and(|last| last.ticks <= self.to)
        };
        self.events > 0
            && self.records.is_sorted_by(|one, next| one.0 < next.0)
            && self.records.iter().all(|(_, records)| are_in_it(records))
            && self.threads.iter().all(|(_, known, lives)| known.state.polls.len() == lives.len())
    }
}
