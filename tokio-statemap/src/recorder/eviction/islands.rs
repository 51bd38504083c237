//! Islands: the events around the longest polls of the run, of all threads, which stay when those around them
//! are dropped.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::recorder::eviction::long_polls::LongPoll;
use crate::recorder::id_map::IdMap;
use crate::recorder::live_tasks::{LiveTask, LiveTasks, LocationId, Stream};
use crate::recorder::record::{Kind, ROOT, Record, events_in, unpack_ready, unpack_spawn};
use crate::recorder::store::segment::{RecordWriter, Segment, StreamId};

/// The most islands.
const MOST: usize = 16;
/// The most of tasks that were spawned at the same location.
const MOST_OF_LOCATION: usize = 4;

/// The events around one poll, and what was known where they begin.
#[derive(Clone, Debug)]
pub(crate) struct Island {
    /// From and to when, in ticks, both included.
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// The poll, and its length, in ticks: that of the longest if what is around several is one island.
    poll: PollId,
    length: u64,
    location: Option<LocationId>,
    /// The polls that begin in it and go on: their ends will be kept, too.
    go_on: Vec<PollId>,
    /// How many events it may have.
    most_events: u64,
    /// Whether what is known at its beginning is.
    is_entered: bool,
    /// Whether its memory is no more than it needs.
    is_shrunk: bool,
    /// The threads where it begins, with whether the tasks lived that they polled.
    pub(crate) threads: Vec<(StreamId, Stream, Vec<bool>)>,
    /// The tasks that are in it, and were there before.
    pub(crate) tasks: IdMap<Option<LiveTask>>,
    records: BTreeMap<StreamId, Vec<Record>>,
    pub(crate) events: u64,
}

/// The thread of a poll, and when it began, in ticks.
type PollId = (StreamId, u64);

/// What could be kept around a poll.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) location: Option<LocationId>,
    /// From and to when of its beginning, in ticks, both included.
    pub(super) begin: (u64, u64),
    /// The same of its end. If there is room for all that happened while it went on, both are the same.
    pub(super) end: (u64, u64),
    /// How many events may be kept, in all of it.
    pub(super) room: u64,
}

impl Place {
    /// Whether that island is of the same location.
    fn is_of(&self, island: &Island) -> bool {
        self.location.is_some() && island.location == self.location
    }
}

/// The islands, by time, which don't overlap.
#[derive(Debug)]
pub(crate) struct Islands {
    /// Shared with snapshots, which would else copy them while they hold a lock.
    all: Vec<Arc<Island>>,
    /// How many events all may have.
    most_events: u64,
    /// The tasks that are in islands, and when they ended, in ticks; 0 if they live.
    ended: IdMap<u64>,
}

/// What an island took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kept {
    /// How many events.
    pub(super) kept: u64,
    /// How many events other islands had that made room.
    pub(super) dropped: u64,
}

impl Islands {
    pub(super) fn new(most_events: u64) -> Self {
        Self { all: Vec::new(), most_events, ended: IdMap::default() }
    }

    /// How many events they have.
    pub(crate) fn events(&self) -> u64 {
        self.all.iter().map(|island| island.events).sum()
    }

    /// How many events may be kept of that poll, and of what is around it.
    pub(super) fn room_for(&self, poll: &LongPoll) -> u64 {
        let others = || self.all.iter().filter(|island| island.poll != poll.id());
        let is_longest = others().all(|island| island.length < poll.length());
        if is_longest { self.most_events } else { self.most_events / 8 }
    }

    /// How many events all may have.
    pub(super) fn most_events(&self) -> u64 {
        self.most_events
    }

    /// Those that have any events.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Island>> {
        self.all.iter().filter(|island| island.events > 0)
    }

    /// Whether that time is in an island, in ticks.
    #[cfg_attr(
        not(all(
            feature = "stacks",
            target_os = "linux",
            any(target_arch = "x86_64", target_arch = "aarch64")
        )),
        allow(dead_code, reason = "nothing is sampled")
    )]
    pub(crate) fn holds(&self, ticks: u64) -> bool {
        self.all.iter().any(|island| island.from <= ticks && ticks <= island.to)
    }

    /// When tasks ended that are in islands, in ticks.
    pub(crate) fn ended(&self) -> Vec<(u64, u64)> {
        self.ended.iter().map(|(&task, &at)| (task, at)).filter(|&(_, at)| at > 0).collect()
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.ended.clear();
    }

    /// Whether the beginning of `poll` is kept, of which the end is not known yet.
    pub(super) fn has_begun(&self, poll: &LongPoll) -> bool {
        self.all.iter().any(|island| island.go_on.contains(&poll.id()))
    }

    /// Makes an island of what is around `poll`, which is over, if that is among the longest: of its beginning and
    /// its end if there is no room for all. Returns the number of events that islands had which made room.
    pub(super) fn consider(&mut self, poll: LongPoll, place: &Place) -> u64 {
        let begun = self.all.iter_mut().find(|island| island.go_on.contains(&poll.id()));
        if let Some(begun) = begun.map(Arc::make_mut) {
            begun.go_on.retain(|&of| of != poll.id());
            begun.is_of(&poll, place);
            self.put(Island::new(place.end, &poll, place), poll.end);
            return 0;
        }
        if !self.is_among_longest(&poll, place) {
            return 0;
        }
        let dropped = self.make_place(&poll, place);
        self.put(Island::new(place.begin, &poll, place), poll.start);
        if place.end != place.begin {
            self.put(Island::new(place.end, &poll, place), poll.end);
        }
        dropped
    }

    /// The same of the beginning of `poll`, which goes on.
    pub(super) fn consider_open(&mut self, poll: LongPoll, place: &Place) -> u64 {
        let is_in = |i: &Arc<Island>| i.is_fixed() && i.has(poll.start);
        if self.has_begun(&poll)
            || !self.all.iter().any(is_in) && !self.is_among_longest(&poll, place)
        {
            return 0;
        }
        let dropped = self.make_place(&poll, place);
        let go_on = vec![poll.id()];
        self.put(Island { go_on, ..Island::new(place.begin, &poll, place) }, poll.start);
        dropped
    }

    /// Whether what is around `poll` is to be kept.
    fn is_among_longest(&self, poll: &LongPoll, place: &Place) -> bool {
        let length = poll.length();
        let overlaps = |i: &Island| i.from <= poll.end && poll.start <= i.to;
        // It is in an island of a longer one, as far as that reaches.
        self.most_events > 0
            && !self.all.iter().any(|i| overlaps(i) && i.length >= length)
            && self.makes_room(poll, place).is_none_or(|least| least < length)
    }

    /// Adds one, which has `at`: an island that has that already takes it in. Those of shorter polls that it overlaps
    /// are left out, as it shows more.
    fn put(&mut self, mut new: Island, at: u64) {
        self.all.retain(|i| {
            i.is_fixed() || i.to < new.from || new.to < i.from || new.length <= i.length
        });
        if let Some(place) = self.all.iter().position(|island| island.has(at)) {
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

    /// The length of the poll whose island has to make room, if one has to.
    fn makes_room(&self, poll: &LongPoll, place: &Place) -> Option<u64> {
        let overlaps = |i: &Island| i.from <= poll.end && poll.start <= i.to;
        let others = || self.all.iter().filter(|i| !overlaps(i));
        let too_many = others().filter(|i| place.is_of(i)).count() >= MOST_OF_LOCATION;
        let candidates = others().filter(|i| !too_many || place.is_of(i));
        (too_many || others().count() >= MOST).then(|| candidates.map(|i| i.length).min()).flatten()
    }

    /// Removes the island that has to make room. Returns how many events it had.
    fn make_place(&mut self, poll: &LongPoll, place: &Place) -> u64 {
        let Some(least) = self.makes_room(poll, place) else { return 0 };
        let too_many = self.all.iter().filter(|i| place.is_of(i)).count() >= MOST_OF_LOCATION;
        let is_it = |i: &Arc<Island>| i.length == least && (!too_many || place.is_of(i));
        let found = self.all.iter().position(is_it);
        found.map_or(0, |found| self.remove(found))
    }

    /// Returns how many events it had.
    fn remove(&mut self, place: usize) -> u64 {
        let removed = self.all.remove(place);
        let islands = &self.all;
        self.ended.retain(|task, _| islands.iter().any(|island| island.tasks.contains_key(task)));
        removed.events
    }

    /// Where the next one begins that wasn't entered, after `done_until`.
    pub(super) fn next_begin(&self, done_until: u64) -> Option<u64> {
        let next = self.all.iter().find(|island| !island.is_entered)?;
        Some(next.from.max(done_until + 1))
    }

    /// All up to `from` is dropped, where the next one begins, if that is still there: what is known then is kept with it.
    pub(super) fn enter(&mut self, from: u64, live_tasks: &LiveTasks) {
        let next = self.all.iter_mut().find(|island| !island.is_entered);
        let next = next.filter(|island| island.from <= from);
        let Some(island) = next.map(Arc::make_mut) else { return };
        island.is_entered = true;
        island.from = island.from.max(from);
        island.threads = live_tasks
            .streams()
            .map(|(id, stream)| {
                let mut stream = stream.clone();
                if live_tasks.has_lost_worker(&stream) {
                    stream.worker = None;
                }
                let lives = stream.polls.iter().map(|&(task, _)| live_tasks.lives(task)).collect();
                (id, stream, lives)
            })
            .collect();
        // They are in it, though it may have no event of theirs.
        let Island { threads, tasks, .. } = island;
        for &(task, _) in threads.iter().flat_map(|(_, stream, _)| &stream.polls) {
            if live_tasks.lives(task) {
                Self::has_task(&mut self.ended, tasks, task, live_tasks);
            }
        }
    }

    /// A task is in an island: when it ends will be noted.
    fn has_task(
        ended: &mut IdMap<u64>,
        tasks: &mut IdMap<Option<LiveTask>>,
        task: u64,
        live_tasks: &LiveTasks,
    ) {
        tasks.entry(task).or_insert_with(|| {
            // The number of a root future is used again.
            if task & ROOT == 0 {
                ended.entry(task).or_default();
            }
            live_tasks.task(task)
        });
    }

    /// Keeps those of these records that are in an island. They are the next, of each stream in order, and not
    /// in `live_tasks` yet.
    pub(super) fn keep(&mut self, segments: &[Segment], live_tasks: &LiveTasks) -> Kept {
        let mut kept = Kept::default();
        if self.all.is_empty() {
            return kept;
        }
        for island in self.all.iter_mut().filter(|island| island.is_entered) {
            // Only what changes, as a snapshot that shares it has it copied.
            if number_in(segments, island.from, island.to) == 0 {
                continue;
            }
            let island = Arc::make_mut(island);
            island.cut(segments);
            for segment in segments {
                let records = segment.between(island.from, island.to);
                if !records.is_empty() {
                    kept.kept += island.add(segment.stream, records, live_tasks, &mut self.ended);
                }
            }
        }
        self.note_ends(segments);
        kept.dropped = self.make_room();
        kept
    }

    /// Notes where tasks of islands end that are no longer to be seen.
    #[inline(never)]
    pub(super) fn note_ends(&mut self, segments: &[Segment]) {
        if self.ended.is_empty() {
            return;
        }
        for record in segments.iter().flat_map(Segment::records) {
            if record.kind() == Kind::Terminate {
                if let Some(ended) = self.ended.get_mut(&record.payload()) {
                    *ended = record.ticks;
                }
            }
        }
    }

    /// Drops those of the shortest polls until there is room. Returns how many events they had.
    fn make_room(&mut self) -> u64 {
        let mut dropped = 0;
        while self.events() > self.most_events {
            let with_events = self.all.iter().filter(|island| island.events > 0);
            let Some(least) = with_events.min_by_key(|island| island.length) else { break };
            // The beginning of a poll is of little use without its end, and the other way round.
            let poll = least.poll;
            while let Some(place) = self.all.iter().position(|island| island.poll == poll) {
                dropped += self.remove(place);
            }
        }
        dropped
    }

    /// All up to `until` is dropped.
    pub(super) fn end_until(&mut self, until: u64) {
        // One without an event is none.
        self.all.retain(|island| island.to > until || island.events > 0);
        // Nothing is added to those that are over.
        for island in self.all.iter_mut().filter(|island| island.to <= until && !island.is_shrunk) {
            let island = Arc::make_mut(island);
            island.is_shrunk = true;
            island.records.values_mut().for_each(Vec::shrink_to_fit);
        }
    }

    /// What comes next was not looked through.
    pub(super) fn cut_off(&mut self) {
        self.all.retain(|island| island.events > 0);
        for island in &mut self.all {
            let last = island.last();
            // Only what changes, as a snapshot that shares it has it copied.
            if let Some(last) = last.filter(|last| *last < island.to) {
                Arc::make_mut(island).to = last;
            }
        }
    }
}

impl Island {
    fn new((from, to): (u64, u64), poll: &LongPoll, place: &Place) -> Self {
        Self {
            from,
            to,
            poll: poll.id(),
            length: poll.length(),
            location: place.location,
            go_on: Vec::new(),
            // Half of it for the beginning, if that is kept by itself.
            most_events: if place.begin == place.end { place.room } else { place.room / 2 },
            is_entered: false,
            is_shrunk: false,
            threads: Vec::new(),
            tasks: IdMap::default(),
            records: BTreeMap::new(),
            events: 0,
        }
    }

    fn has(&self, ticks: u64) -> bool {
        (self.from..=self.to).contains(&ticks)
    }

    /// Whether it can't be left out for a longer poll: something is in it, or the beginning of a poll that goes on.
    fn is_fixed(&self) -> bool {
        self.is_entered || !self.go_on.is_empty()
    }

    /// It is of that poll, if that is the longest in it.
    fn is_of(&mut self, poll: &LongPoll, place: &Place) {
        if self.poll == poll.id() || self.length < poll.length() {
            (self.poll, self.length, self.location) = (poll.id(), poll.length(), place.location);
        }
    }

    /// When its last record is, in ticks.
    fn last(&self) -> Option<u64> {
        let last = self.records.values().filter_map(|records| records.last());
        last.map(|record| record.ticks).max()
    }

    /// Has it end where it has as many events as it may, if these records are added.
    fn cut(&mut self, segments: &[Segment]) {
        let room = self.most_events.saturating_sub(self.events);
        let end = last_with(room, self.to, |to| number_in(segments, self.from, to));
        // Late records are before what it has.
        self.to = end.max(self.last().unwrap_or(self.from)).min(self.to);
    }

    /// Returns how many of the records are events.
    fn add(
        &mut self,
        stream: StreamId,
        records: &[Record],
        live_tasks: &LiveTasks,
        ended: &mut IdMap<u64>,
    ) -> u64 {
        for record in records {
            let task = match record.kind() {
                Kind::PollStartReady => unpack_ready(record.packed_payload()).0,
                Kind::SpawnAt => unpack_spawn(record.packed_payload()).0,
                Kind::Spawn | Kind::PollStart | Kind::PollEnd | Kind::Terminate => record.payload(),
                _ => continue,
            };
            Islands::has_task(ended, &mut self.tasks, task, live_tasks);
        }
        self.records.entry(stream).or_default().extend_from_slice(records);
        let events = events_in(records);
        self.events += events;
        events
    }

    /// Its records, by stream.
    pub(crate) fn segments(&self) -> impl Iterator<Item = Segment> {
        self.records.iter().filter_map(|(&stream, records)| {
            let writer = RecordWriter::allocate(1, records.len()).next()?;
            records.iter().for_each(|&record| {
                writer.push(record);
            });
            Some(Segment::new(stream, 0, writer.chunk().clone(), 0..records.len()))
        })
    }
}

/// How many records there are in that time, both ends included.
pub(super) fn number_in(segments: &[Segment], from: u64, to: u64) -> u64 {
    segments.iter().map(|segment| segment.between(from, to).len() as u64).sum()
}

/// The latest time up to `last` at which there are no more than `most`, if `number` rises with time.
fn last_with(most: u64, last: u64, number: impl Fn(u64) -> u64) -> u64 {
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
