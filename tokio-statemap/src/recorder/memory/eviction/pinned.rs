//! Pinned windows: the events around the longest polls of the run, of all threads, which stay when those around them
//! are dropped.

#[cfg(has_black_box)]
mod boxed;

use std::sync::Arc;

use crate::recorder::id_map::IdMap;
use crate::recorder::memory::by_id::place_of;
use crate::recorder::memory::eviction::long_polls::LongPoll;
use crate::recorder::memory::live_tasks::{LiveTask, LiveTasks, Stream};
use crate::recorder::record::{Kind, LocationId, ROOT, Record, events_in};
use crate::recorder::store::segment::{RecordWriter, Segment, StreamId, events_between};
use crate::util::map::Map;

/// The most pinned windows.
const MOST: usize = 16;
/// The most pinned windows around polls of tasks that were spawned at the same location.
const MOST_OF_LOCATION: usize = 4;

/// The events around one poll, and what was known where they begin.
#[derive(Clone, Debug)]
pub(crate) struct PinnedWindow {
    /// The first and the last moment, in ticks.
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// The poll, and its length, in ticks: those of the longest poll in the window.
    poll: PollId,
    length: u64,
    location: Option<LocationId>,
    /// The polls that begin in it and go on: their ends will be kept, too.
    go_on: Vec<PollId>,
    /// The most events that it may have.
    most_events: u64,
    /// `true` once the state at its beginning was taken.
    is_entered: bool,
    /// `true` if its memory is no more than it needs.
    is_shrunk: bool,
    /// The threads at its beginning, each with whether the tasks that it polled still lived.
    pub(crate) threads: Vec<(StreamId, Stream, Vec<bool>)>,
    /// The tasks in it, as they were before.
    pub(crate) tasks: Map<u64, Option<LiveTask>>,
    /// By stream.
    records: Vec<(StreamId, Vec<Record>)>,
    pub(crate) events: u64,
}

/// The identity of a poll: its thread, and when it began, in ticks.
type PollId = (StreamId, u64);

/// The time around a poll that could be pinned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) location: Option<LocationId>,
    /// The first and the last moment around its beginning, in ticks.
    pub(super) begin: (u64, u64),
    /// The same around its end. Both are the same if there is room for all that happened during the poll.
    pub(super) end: (u64, u64),
    /// The most events that may be kept in all of it.
    pub(super) room: u64,
}

/// The pinned windows, by time, which don't overlap.
#[derive(Debug)]
pub(crate) struct PinnedWindows {
    /// Shared with captures, which would otherwise copy them while they hold a lock.
    all: Vec<Arc<PinnedWindow>>,
    /// The most events that all may have, and the most of one.
    most_events: u64,
    most_of_one: u64,
    /// The tasks that are in pinned windows, and when they ended, in ticks; 0 if they live.
    ended: IdMap<u64>,
}

/// The events that a pinned window took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kept {
    /// The number of events.
    pub(super) kept: u64,
    /// The number of events in other windows that made room.
    pub(super) dropped: u64,
}

impl PinnedWindows {
    pub(super) fn new(most_events: u64) -> Self {
        Self { all: Vec::new(), most_events, most_of_one: most_events, ended: IdMap::default() }
    }

    /// Returns how many events they have.
    pub(crate) fn events(&self) -> u64 {
        let mut events = 0;
        for pin in &self.all {
            events += pin.events;
        }
        events
    }

    /// Returns the place of the first window for which `is_it` returns `true`.
    fn position(&self, is_it: &dyn Fn(&PinnedWindow) -> bool) -> Option<usize> {
        self.all.iter().position(|pin| is_it(pin))
    }

    fn retain(&mut self, stays: &dyn Fn(&PinnedWindow) -> bool) {
        self.all.retain(|pin| stays(pin));
    }

    /// Returns how many events may be kept of this poll and of what is around it.
    pub(super) fn room_for(&self, poll: &LongPoll) -> u64 {
        let is_longer = |pin: &PinnedWindow| pin.poll != poll.id() && pin.length >= poll.length();
        if self.position(&is_longer).is_none() { self.most_of_one } else { self.most_events / 8 }
    }

    /// Returns how many events all may have.
    pub(super) fn most_events(&self) -> u64 {
        self.most_events
    }

    /// Returns the windows that have any events.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<PinnedWindow>> {
        self.all.iter().filter(|pin| pin.events > 0)
    }

    /// Returns whether that time, in ticks, is pinned.
    pub(crate) fn holds(&self, ticks: u64) -> bool {
        self.position(&|pin| pin.has(ticks)).is_some()
    }

    /// Returns the ends of tasks in pinned windows, in ticks.
    pub(crate) fn ended(&self) -> Vec<(u64, u64)> {
        let mut ended = Vec::new();
        for (&task, &at) in &self.ended {
            if at > 0 {
                ended.push((task, at));
            }
        }
        ended
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.ended.clear();
    }

    /// Returns whether the beginning of `poll` is kept, and its end wasn't known so far.
    pub(super) fn has_begun(&self, poll: &LongPoll) -> bool {
        self.begun(poll).is_some()
    }

    fn begun(&self, poll: &LongPoll) -> Option<usize> {
        self.position(&|pin| pin.go_on.contains(&poll.id()))
    }

    /// Returns whether what is around `poll` is to be kept. Its task was spawned at `location`. This is asked first, as
    /// many records are visited to find its [`Place`].
    pub(super) fn wants(
        &self,
        poll: &LongPoll,
        location: Option<LocationId>,
        is_open: bool,
    ) -> bool {
        if self.has_begun(poll) {
            return !is_open;
        }
        let is_in = |pin: &PinnedWindow| pin.is_fixed() && pin.has(poll.start);
        is_open && self.position(&is_in).is_some() || self.is_among_longest(poll, location)
    }

    /// Pins what is around `poll`, which is over and [wanted](Self::wants). If there is no room for all, only its
    /// beginning and its end are pinned. Returns the number of events in the windows that made room.
    pub(super) fn pin(&mut self, poll: LongPoll, place: &Place) -> u64 {
        if let Some(begun) = self.begun(&poll) {
            let begun = Arc::make_mut(&mut self.all[begun]);
            if let Some(place) = begun.go_on.iter().position(|of| *of == poll.id()) {
                begun.go_on.remove(place);
            }
            begun.is_of(&poll, place);
            self.put(PinnedWindow::new(place.end, &poll, place), poll.end);
            return 0;
        }
        let dropped = self.make_place(&poll, place.location);
        self.put(PinnedWindow::new(place.begin, &poll, place), poll.start);
        if place.end != place.begin {
            self.put(PinnedWindow::new(place.end, &poll, place), poll.end);
        }
        dropped
    }

    /// Pins what is around the beginning of `poll`, which still runs and is [wanted](Self::wants).
    pub(super) fn pin_open(&mut self, poll: LongPoll, place: &Place) -> u64 {
        let dropped = self.make_place(&poll, place.location);
        let go_on = vec![poll.id()];
        self.put(
            PinnedWindow { go_on, ..PinnedWindow::new(place.begin, &poll, place) },
            poll.start,
        );
        dropped
    }

    fn is_among_longest(&self, poll: &LongPoll, location: Option<LocationId>) -> bool {
        let length = poll.length();
        // If the window of a longer poll overlaps it, it is in that window, as far as the window reaches.
        self.most_events > 0
            && self.position(&|pin| pin.overlaps(poll) && pin.length >= length).is_none()
            && self.makes_room(poll, location).is_none_or(|least| least < length)
    }

    /// Adds a window that contains `at`. If there is a window that contains `at`, that one takes it in. Windows of
    /// shorter polls that it overlaps are removed, as it shows more.
    fn put(&mut self, mut new: PinnedWindow, at: u64) {
        self.retain(&|i| {
            i.is_fixed() || i.to < new.from || new.to < i.from || new.length <= i.length
        });
        if let Some(place) = self.position(&|pin| pin.has(at)) {
            let before = place.checked_sub(1).map(|before| self.all[before].to);
            let after = self.all.get(place + 1).map(|after| after.from);
            let there = Arc::make_mut(&mut self.all[place]);
            if !there.is_entered {
                there.from = there.from.min(new.from).max(before.map_or(0, |to| to + 1));
            }
            there.to = there.to.max(new.to).min(after.map_or(u64::MAX, |from| from - 1));
            there.most_events = (there.most_events + new.most_events).min(self.most_events);
            there.go_on.append(&mut new.go_on);
            if new.length > there.length {
                (there.poll, there.length) = (new.poll, new.length);
                there.location = new.location;
            }
            return;
        }
        let place = self.all.partition_point(|other| other.from <= new.from);
        if let Some(before) = place.checked_sub(1).map(|before| &self.all[before]) {
            new.from = new.from.max(before.to.saturating_add(1));
        }
        if let Some(after) = self.all.get(place) {
            new.to = new.to.min(after.from - 1);
        }
        if new.from <= new.to {
            self.all.insert(place, Arc::new(new));
        }
    }

    /// Returns the length of the poll whose window has to make room, if one has to.
    fn makes_room(&self, poll: &LongPoll, location: Option<LocationId>) -> Option<u64> {
        // The number of windows, and the length of the shortest poll: of all windows, and of those of the location.
        let (mut all, mut of_location) = ((0, u64::MAX), (0, u64::MAX));
        for pin in &self.all {
            if pin.overlaps(poll) {
                continue;
            }
            all = (all.0 + 1, pin.length.min(all.1));
            if pin.is_of_location(location) {
                of_location = (of_location.0 + 1, pin.length.min(of_location.1));
            }
        }
        if of_location.0 >= MOST_OF_LOCATION {
            Some(of_location.1)
        } else if all.0 >= MOST {
            Some(all.1)
        } else {
            None
        }
    }

    /// Removes the window that has to make room, if one has to. Returns how many events it had.
    fn make_place(&mut self, poll: &LongPoll, location: Option<LocationId>) -> u64 {
        let Some(least) = self.makes_room(poll, location) else { return 0 };
        let mut of_location = 0;
        for pin in &self.all {
            of_location += usize::from(pin.is_of_location(location));
        }
        let is_any = of_location < MOST_OF_LOCATION;
        match self.position(&|pin| pin.length == least && (is_any || pin.is_of_location(location)))
        {
            Some(found) => self.remove(found),
            None => 0,
        }
    }

    /// Removes a window. Returns how many events it had.
    fn remove(&mut self, place: usize) -> u64 {
        let removed = self.all.remove(place);
        let all = &self.all;
        self.ended.retain(|task, _| all.iter().any(|pin| pin.tasks.get(task).is_some()));
        removed.events
    }

    /// Returns where the next window that wasn't entered begins, after `done_until`.
    pub(super) fn next_begin(&self, done_until: u64) -> Option<u64> {
        let next = self.position(&|pin| !pin.is_entered)?;
        Some(self.all[next].from.max(done_until + 1))
    }

    /// Enters the next window, which begins at `from`, if it is still there: everything before is dropped, and the
    /// window keeps the state at its beginning.
    pub(super) fn enter(&mut self, from: u64, live_tasks: &LiveTasks) {
        let Some(next) = self.position(&|pin| !pin.is_entered) else { return };
        if self.all[next].from > from {
            return;
        }
        let pin = Arc::make_mut(&mut self.all[next]);
        pin.is_entered = true;
        pin.from = from;
        for (id, stream) in live_tasks.streams() {
            let mut stream = stream.clone();
            if live_tasks.has_lost_worker(&stream) {
                stream.state.worker = None;
            }
            let mut all_live = Vec::new();
            for poll in &stream.state.polls {
                let lives = live_tasks.lives(poll.task);
                all_live.push(lives);
                // The task is in the window, though the window may have no events of it.
                if lives {
                    Self::has_task(&mut self.ended, &mut pin.tasks, poll.task, live_tasks);
                }
            }
            pin.threads.push((id, stream, all_live));
        }
    }

    /// Notes that a task is in a pinned window, so that its end will be noted.
    fn has_task(
        ended: &mut IdMap<u64>,
        tasks: &mut Map<u64, Option<LiveTask>>,
        task: u64,
        live_tasks: &LiveTasks,
    ) {
        tasks.get_or_insert_with(task, || {
            // The number of a root future is reused.
            if task & ROOT == 0 {
                ended.entry(task).or_default();
            }
            live_tasks.task(task)
        });
    }

    /// Keeps those of the next records that are in a pinned window. The records of each stream are in order, and not
    /// applied to `live_tasks` yet.
    pub(super) fn keep(&mut self, segments: &[Segment], live_tasks: &LiveTasks) -> Kept {
        let mut kept = Kept::default();
        if self.all.is_empty() {
            return kept;
        }
        for pin in &mut self.all {
            // Only windows that change are touched, as a window that a capture shares is copied.
            if !pin.is_entered || number_in(segments, pin.from, pin.to) == 0 {
                continue;
            }
            let pin = Arc::make_mut(pin);
            pin.cut(segments);
            for segment in segments {
                let records = segment.between(pin.from, pin.to);
                if !records.is_empty() {
                    kept.kept += pin.add(segment.stream, records, live_tasks, &mut self.ended);
                }
            }
        }
        self.note_ends(segments);
        kept.dropped = self.make_room();
        kept
    }

    /// Notes when tasks in pinned windows end.
    #[inline(never)]
    pub(super) fn note_ends(&mut self, segments: &[Segment]) {
        if self.ended.is_empty() {
            return;
        }
        for segment in segments {
            for record in segment.records() {
                if record.kind() == Kind::Terminate {
                    if let Some(ended) = self.ended.get_mut(&record.payload()) {
                        *ended = record.ticks;
                    }
                }
            }
        }
    }

    /// Drops the windows of the shortest polls until there is room. Returns how many events they had.
    fn make_room(&mut self) -> u64 {
        let mut dropped = 0;
        while self.events() > self.most_events {
            let mut least: Option<(u64, PollId)> = None;
            for pin in self.iter() {
                if least.is_none_or(|(length, _)| pin.length < length) {
                    least = Some((pin.length, pin.poll));
                }
            }
            let Some((_, poll)) = least else { break };
            // The beginning of a poll is of little use without its end, and the other way round.
            while let Some(place) = self.position(&|pin| pin.poll == poll) {
                dropped += self.remove(place);
            }
        }
        dropped
    }

    /// Ends the windows up to `until`, as everything before is dropped.
    pub(super) fn end_until(&mut self, until: u64) {
        // A window without events is of no use.
        self.retain(&|pin| pin.to > until || pin.events > 0);
        for pin in &mut self.all {
            // Nothing is added to windows that have ended.
            if pin.to <= until && !pin.is_shrunk {
                let pin = Arc::make_mut(pin);
                pin.is_shrunk = true;
                for (_, records) in &mut pin.records {
                    records.shrink_to_fit();
                }
            }
        }
    }

    /// Ends the windows that are not complete, as the next records are dropped without being looked through.
    pub(super) fn cut_off(&mut self) {
        self.retain(&|pin| pin.events > 0);
        for pin in &mut self.all {
            // Only windows that change are touched, as a window that a capture shares is copied.
            match pin.last() {
                Some(last) if last < pin.to => Arc::make_mut(pin).to = last,
                _ => {}
            }
        }
    }
}

impl PinnedWindow {
    fn new((from, to): (u64, u64), poll: &LongPoll, place: &Place) -> Self {
        Self {
            from,
            to,
            poll: poll.id(),
            length: poll.length(),
            location: place.location,
            go_on: Vec::new(),
            // The beginning gets half of the room if it is kept by itself.
            most_events: if place.begin == place.end { place.room } else { place.room / 2 },
            is_entered: false,
            is_shrunk: false,
            threads: Vec::new(),
            tasks: Map::default(),
            records: Vec::new(),
            events: 0,
        }
    }

    fn has(&self, ticks: u64) -> bool {
        self.from <= ticks && ticks <= self.to
    }

    fn overlaps(&self, poll: &LongPoll) -> bool {
        self.from <= poll.end && poll.start <= self.to
    }

    fn is_of_location(&self, location: Option<LocationId>) -> bool {
        location.is_some() && self.location == location
    }

    /// Returns whether it can't be removed for a longer poll: it was entered, or has the beginning of a poll that goes
    /// on.
    fn is_fixed(&self) -> bool {
        self.is_entered || !self.go_on.is_empty()
    }

    /// Makes it the window of that poll, if that poll is the longest in it.
    fn is_of(&mut self, poll: &LongPoll, place: &Place) {
        if self.poll == poll.id() || self.length < poll.length() {
            (self.poll, self.length, self.location) = (poll.id(), poll.length(), place.location);
        }
    }

    /// Returns the time of its last record, in ticks.
    fn last(&self) -> Option<u64> {
        let mut last = None;
        for (_, records) in &self.records {
            last = last.max(records.last().map(|record| record.ticks));
        }
        last
    }

    /// Ends it where it has as many events as it may, if these records are added.
    fn cut(&mut self, segments: &[Segment]) {
        let room = self.most_events.saturating_sub(self.events);
        let end = last_with(room, self.to, &|to| events_between(segments, self.from, to));
        // Late records are before those that it has.
        self.to = end.max(self.last().unwrap_or(self.from)).min(self.to);
    }

    /// Adds records of one stream. Returns how many of them are events.
    fn add(
        &mut self,
        stream: StreamId,
        records: &[Record],
        live_tasks: &LiveTasks,
        ended: &mut IdMap<u64>,
    ) -> u64 {
        let mut last = None;
        for record in records {
            // Most records are of the same task as the one before.
            match record.task() {
                Some(task) if last != Some(task) => {
                    PinnedWindows::has_task(ended, &mut self.tasks, task, live_tasks);
                    last = Some(task);
                }
                _ => {}
            }
        }
        let place = place_of(&mut self.records, stream);
        self.records[place].1.extend_from_slice(records);
        let events = events_in(records);
        self.events += events;
        events
    }

    /// Appends its records to `into`, by stream.
    pub(crate) fn segments(&self, into: &mut Vec<Segment>) {
        for (stream, records) in &self.records {
            let Some(writer) = RecordWriter::allocate(1, records.len()).next() else { continue };
            for &record in records {
                writer.push(record);
            }
            into.push(Segment::new(*stream, 0, writer.chunk().clone(), 0..records.len()));
        }
    }
}

/// Returns how many records there are in that time, both ends included.
fn number_in(segments: &[Segment], from: u64, to: u64) -> u64 {
    let mut number = 0;
    for segment in segments {
        number += segment.between(from, to).len() as u64;
    }
    number
}

/// Returns the latest time up to `last` at which there are no more than `most`, if `number` rises with time.
fn last_with(most: u64, last: u64, number: &dyn Fn(u64) -> u64) -> u64 {
    if number(last) <= most {
        return last;
    }
    let (mut fits, mut exceeds) = (0, last);
    while exceeds - fits > 1 {
        let middle = fits + (exceeds - fits) / 2;
        *(if number(middle) <= most { &mut fits } else { &mut exceeds }) = middle;
    }
    fits
}
