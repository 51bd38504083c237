//! The sums of the whole run: what tasks and workers did, per spawn location, per worker, and per stretch of time.
//!
//! What leaves the store is added up before it is dropped ([`LiveTasks::update`](super::live_tasks::LiveTasks)), and a
//! snapshot adds to a copy of that what is still there: so that nothing counts twice, and nothing is missing. The memory
//! is bounded by the number of spawn locations. All sums are in ticks, so that it doesn't matter in how many
//! parts they were added up.

mod histogram;
mod location;
mod longest;
mod stretches;
#[cfg(test)]
mod tests;
mod thread;
mod worker;

use std::cmp::Reverse;

use crate::recorder::Window;
use crate::recorder::boxed::boxed_array;
use crate::recorder::live_tasks::{LiveTasks, LocationId, role};
use crate::recorder::record::{Kind, ROOT, Record, unpack_ready, unpack_spawn};
use crate::recorder::store::segment::{Segment, StreamId};
pub(crate) use crate::recorder::sums::histogram::Histogram;
pub(crate) use crate::recorder::sums::location::{Key, LocationSums};
pub(crate) use crate::recorder::sums::longest::{Longest, LongestPoll};
pub(crate) use crate::recorder::sums::stretches::{Stretch, Stretches};
use crate::recorder::sums::thread::{OpenPoll, Thread};
pub(crate) use crate::recorder::sums::worker::WorkerSums;
use crate::recorder::sums::worker::{Claim, Does};
use crate::util::heapsort::heapsort;

/// A thread became a worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Role {
    pub(crate) worker: u32,
    pub(crate) stream: StreamId,
    pub(crate) at: u64,
}

/// What was added up so far. Times are in ticks.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    /// Per spawn location.
    pub(crate) rows: Vec<LocationSums>,
    /// The place in `rows` of each location, plus one.
    by_location: Vec<u32>,
    /// Of tasks that were polled recently the place in `rows`.
    recent: Option<Box<Recent>>,
    /// By their indices.
    pub(crate) workers: Vec<(u32, WorkerSums)>,
    pub(crate) stretches: Stretches,
    pub(crate) longest: Longest,
    /// How many polls began before, or went on after what was recorded.
    pub(crate) cut_polls: u64,
    /// How many events were missed before it began anew.
    pub(crate) missed_before: u64,
    /// How many polls still ran at the end; only once [finished](Self::finish).
    pub(crate) running_polls: u64,
    /// By their streams.
    threads: Vec<(StreamId, Box<Thread>)>,
    /// The index of the window of recording that was added up last.
    window: usize,
    has_begun: bool,
    /// When that window began.
    window_from: u64,
    /// When it began anew, in ticks: what workers did before isn't added up.
    reset_at: u64,
    /// How many windows were over by then: the polls that were open where these end are in what was before.
    windows_before: usize,
    /// Longer polls are long, in ticks. None is until this is [known](Self::expect_long_poll).
    long_poll: u64,
    /// Whether the records that are added up now count: those that were there at a reset, and hadn't been added up,
    /// do not. Which polls go on, and who is which worker, is in them all the same.
    counts: bool,
    /// Of the batch that is added up; kept for its memory, as hooks evict.
    claims: Vec<Claim>,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            by_location: Vec::new(),
            recent: None,
            workers: Vec::new(),
            stretches: Stretches::default(),
            longest: Longest::default(),
            cut_polls: 0,
            missed_before: 0,
            running_polls: 0,
            threads: Vec::new(),
            window: 0,
            has_begun: false,
            window_from: 0,
            reset_at: 0,
            windows_before: 0,
            long_poll: UNKNOWN,
            counts: false,
            claims: Vec::new(),
        }
    }
}

/// No poll is as long.
const UNKNOWN: u64 = u64::MAX;

const RECENT: usize = 256;
type Recent = [(u64, u32); RECENT];

impl Sums {
    /// Says from when on a poll is long, in ticks, unless that was said before: it stays, so that it doesn't matter in how
    /// many parts polls are added up, though the clock's rate gets better known.
    pub(crate) fn expect_long_poll(&mut self, ticks: impl FnOnce() -> u64) {
        if self.long_poll == UNKNOWN {
            self.long_poll = ticks();
        }
    }

    /// Adds up the records from `from` until before `until`, of each stream in order, which `live_tasks` was updated
    /// from, but for the tasks that ended. They are of the window of recording `window`.
    ///
    /// Inlined, as hooks evict, and the stack of a hook is bounded; each step is a function of its own for the same reason.
    #[inline(always)]
    pub(crate) fn add(
        &mut self,
        segments: &[Segment],
        (from, until): (u64, u64),
        live_tasks: &LiveTasks,
        windows: &[Window],
        window: usize,
    ) {
        self.enter_window(window, windows);
        for segment in segments {
            let records = segment.records();
            let to = records.partition_point(|record| record.ticks < until);
            let first = records.partition_point(|record| record.ticks < from);
            if first < to {
                self.add_stream(segment.stream, &records[first..to], live_tasks);
            }
        }
        self.apply_claims();
        self.apply_roles(live_tasks);
    }

    /// Ends what the polls that go on held of the workers that went on elsewhere.
    #[inline(never)]
    fn apply_roles(&mut self, live_tasks: &LiveTasks) {
        for role in live_tasks.roles() {
            for (_, thread) in self.threads.iter_mut().filter(|(id, _)| *id != role.stream) {
                let polls = thread.polls.iter_mut();
                for poll in polls.filter(|p| p.worker == Some(role.worker) && role.at > p.start) {
                    poll.held_until = Some(poll.held_until.unwrap_or(role.at).min(role.at));
                }
            }
        }
    }

    /// A task that was spawned before recording began is seen.
    #[inline(never)]
    fn late_origin(&mut self, task: u64, live_tasks: &LiveTasks) {
        if self.counts && live_tasks.is_newly_known(task) {
            let location = live_tasks.task(task).and_then(|known| known.location);
            let row = self.row(location.map_or(Key::Unknown, Key::At));
            self.rows[row as usize].tasks += 1;
        }
    }

    /// Adds those that were there at a reset. Returns the others.
    #[inline(never)]
    fn add_those_before<'a>(
        &mut self,
        thread: &mut Thread,
        stream: StreamId,
        records: &'a [Record],
        live_tasks: &LiveTasks,
    ) -> &'a [Record] {
        let (before, later) = records.split_at(thread.before_reset.min(records.len()));
        thread.before_reset -= before.len();
        self.counts = false;
        for &record in before {
            self.add_record(thread, stream, record, live_tasks);
        }
        self.counts = true;
        later
    }

    /// Adds up the records of one stream.
    #[inline(never)]
    fn add_stream(&mut self, stream: StreamId, records: &[Record], live_tasks: &LiveTasks) {
        // Taken out, so that the rest of `self` can be changed meanwhile.
        let place = place_of(&mut self.threads, stream);
        let (_, mut thread) = self.threads.remove(place);
        // It is the last that a thread records.
        let has_ended = records.last().is_some_and(|last| last.kind() == Kind::End);
        let mut later = self.add_those_before(&mut thread, stream, records, live_tasks);
        let is_plain = live_tasks.roles().is_empty();
        while let [record, rest @ ..] = later {
            // Most records are whole polls.
            if let Some(task) = record.whole_poll(rest.first()) {
                let end = rest[0].ticks;
                later = &rest[1..];
                if is_plain && thread.runs() {
                    self.add_poll(&mut thread, task, *record, end, live_tasks);
                } else {
                    let poll = self.started(&mut thread, stream, *record, live_tasks);
                    self.end_poll(&poll, stream, end, live_tasks);
                }
                continue;
            }
            later = rest;
            self.add_record(&mut thread, stream, *record, live_tasks);
        }
        if !has_ended || !thread.polls.is_empty() {
            self.threads.insert(place, (stream, thread));
        }
    }

    /// Adds a whole poll, of a thread of which nothing else changes.
    #[inline(never)]
    fn add_poll(
        &mut self,
        thread: &mut Thread,
        task: u64,
        start: Record,
        end: u64,
        live_tasks: &LiveTasks,
    ) {
        let ready_ns = match start.kind() {
            Kind::PollStartReady => Some(unpack_ready(start.packed_payload()).1),
            _ => thread.ready_ns.take(),
        };
        let (row, start) = (self.row_of(task, live_tasks), start.ticks);
        let poll = OpenPoll { task, row, start, ready_ns, worker: thread.worker, held_until: None };
        self.poll(&poll, end, false);
    }

    /// The start of a poll that goes on.
    fn start_poll(
        &mut self,
        thread: &mut Thread,
        stream: StreamId,
        record: Record,
        live_tasks: &LiveTasks,
    ) {
        let poll = self.started(thread, stream, record, live_tasks);
        thread.polls.push(poll);
    }

    #[inline(never)]
    fn started(
        &mut self,
        thread: &mut Thread,
        stream: StreamId,
        record: Record,
        live_tasks: &LiveTasks,
    ) -> OpenPoll {
        let (task, ready_ns) = match record.kind() {
            Kind::PollStartReady => {
                let (id, ready_ns) = unpack_ready(record.packed_payload());
                (id, Some(ready_ns))
            }
            _ => (record.payload(), thread.ready_ns.take()),
        };
        thread.acts(record.ticks, Does::Run, stream, &mut self.claims);
        thread.is_used = true;
        OpenPoll {
            task,
            row: self.row_of(task, live_tasks),
            start: record.ticks,
            ready_ns,
            worker: thread.worker,
            held_until: None,
        }
    }

    #[inline(never)]
    fn end_poll(&mut self, poll: &OpenPoll, stream: StreamId, end: u64, live_tasks: &LiveTasks) {
        if !self.counts {
            return;
        }
        let mut held_end = poll.held_until.unwrap_or(end).min(end);
        if let (Some(worker), false) = (poll.worker, live_tasks.roles().is_empty()) {
            let roles = live_tasks.roles();
            let later =
                roles.partition_point(|role| (role.worker, role.at) <= (worker, poll.start));
            let mut meanwhile = roles[later..]
                .iter()
                .take_while(|role| role.worker == worker && role.at < held_end);
            let taken = meanwhile.find(|role| role.stream != stream);
            held_end = taken.map_or(held_end, |role| role.at);
        }
        self.poll(poll, held_end, false);
    }

    /// Adds a poll that held its worker until `end`, or for longer than is known.
    #[inline]
    fn poll(&mut self, poll: &OpenPoll, end: u64, is_cut: bool) {
        let length = end.saturating_sub(poll.start);
        let row = &mut self.rows[poll.row as usize];
        row.poll(length, poll.worker.is_some(), poll.ready_ns, self.long_poll);
        let held = if poll.worker.is_some() { length } else { 0 };
        self.stretches.poll(poll.start, length, held, poll.row);
        if let Some(worker) = poll.worker {
            match self.workers.get_mut(worker as usize) {
                // Usually they are all known.
                Some((index, worker_sums)) if *index == worker => worker_sums.polls += 1,
                _ => self.worker(worker).polls += 1,
            }
        }
        if self.longest.may_have(length) {
            self.longest.consider(LongestPoll {
                length,
                start: Reverse(poll.start),
                task: Reverse(poll.task),
                row: poll.row,
                worker: poll.worker,
                is_cut,
            });
        }
    }

    #[inline(never)]
    fn add_record(
        &mut self,
        thread: &mut Thread,
        stream: StreamId,
        record: Record,
        live_tasks: &LiveTasks,
    ) {
        let at = record.ticks;
        match record.kind() {
            Kind::PollStart | Kind::PollStartReady => {
                return self.start_poll(thread, stream, record, live_tasks);
            }
            Kind::PollEnd => self.poll_ended(thread, stream, record, live_tasks),
            Kind::SpawnAt => {
                let (task, location) = unpack_spawn(record.packed_payload());
                self.spawned(task, Some(location), at, live_tasks);
            }
            Kind::Spawn => {
                let location = thread.location.take();
                self.spawned(record.payload(), location, at, live_tasks);
            }
            Kind::Terminate => {
                thread.terminated();
                // The end of what was never spawned, or polled, is that of a blocking task or a worker's loop.
                let task = record.payload();
                if self.counts && task & ROOT == 0 && live_tasks.lives(task) {
                    self.stretches.at(at).terminated += 1;
                }
            }
            Kind::ThreadStart => {
                thread.started = Some(at);
                thread.acts(at, Does::Run, stream, &mut self.claims);
                // It has done nothing yet.
                return;
            }
            Kind::ThreadStop => thread.acts(at, Does::Stop, stream, &mut self.claims),
            Kind::Park => {
                if let (Some(worker), true) = (thread.worker, self.counts) {
                    self.worker(worker).parks += 1;
                }
                thread.acts(at, Does::Park, stream, &mut self.claims);
            }
            Kind::Unpark => thread.acts(at, Does::Run, stream, &mut self.claims),
            Kind::Role => thread.worker = role(record.payload()),
            Kind::Location => thread.location = Some(record.payload() as LocationId),
            Kind::LateOrigin => {
                thread.location = None;
                self.late_origin(record.payload(), live_tasks);
            }
            Kind::Ready => thread.ready_ns = Some(record.payload()),
            _ => {}
        }
        thread.is_used |= record.is_event();
    }

    /// A poll ends that wasn't whole.
    #[inline(never)]
    fn poll_ended(
        &mut self,
        thread: &mut Thread,
        stream: StreamId,
        record: Record,
        live_tasks: &LiveTasks,
    ) {
        let (at, task) = (record.ticks, record.payload());
        if let Some(place) = thread.polls.iter().rposition(|poll| poll.task == task) {
            let mut poll = thread.polls.remove(place);
            if self.rows[poll.row as usize].key == Key::Unknown {
                poll.row = self.row_of(task, live_tasks);
            }
            self.end_poll(&poll, stream, at, live_tasks);
        } else if self.counts {
            self.add_cut_poll(task, thread.worker, at, live_tasks);
        }
    }

    #[inline(never)]
    fn add_cut_poll(&mut self, task: u64, worker: Option<u32>, at: u64, live_tasks: &LiveTasks) {
        // It began before this window. Whether its worker was the same all the time isn't known.
        self.cut_polls += 1;
        let poll = OpenPoll {
            task,
            row: self.row_of(task, live_tasks),
            start: self.window_from.min(at),
            ready_ns: None,
            worker,
            held_until: None,
        };
        self.poll(&poll, at, true);
    }

    #[inline(never)]
    fn spawned(
        &mut self,
        task: u64,
        location: Option<LocationId>,
        at: u64,
        live_tasks: &LiveTasks,
    ) {
        if !self.counts {
            return;
        }
        self.stretches.at(at).spawned += u64::from(task & ROOT == 0);
        let key = match task & ROOT {
            0 => location.map_or(Key::Unknown, Key::At),
            _ => Key::Root(task & !ROOT),
        };
        let row = self.row(key);
        let row = &mut self.rows[row as usize];
        // A root future's number is used again, and stands for all. A task whose origin was recorded late, too, counts
        // there.
        row.tasks = match task & ROOT {
            0 => row.tasks + u64::from(!live_tasks.is_newly_known(task)),
            _ => 1,
        };
    }

    /// The place in `rows` of a task's location.
    #[inline]
    fn row_of(&mut self, task: u64, live_tasks: &LiveTasks) -> u32 {
        if let Some(recent) = &self.recent {
            let (id, row) = recent[task as usize % RECENT];
            if id == task {
                return row;
            }
        }
        self.look_up(task, live_tasks)
    }

    #[inline(never)]
    fn look_up(&mut self, task: u64, live_tasks: &LiveTasks) -> u32 {
        if task & ROOT != 0 {
            return self.row(Key::Root(task & !ROOT));
        }
        let Some(location) = live_tasks.task(task).and_then(|known| known.location) else {
            // It may be known later.
            return self.row(Key::Unknown);
        };
        let row = self.row(Key::At(location));
        let recent = self.recent.get_or_insert_with(|| boxed_array((u64::MAX, 0)));
        recent[task as usize % RECENT] = (task, row);
        row
    }

    /// The place in `rows` of a key.
    fn row(&mut self, key: Key) -> u32 {
        let place = match key {
            Key::At(location) => {
                self.by_location.get(location as usize).and_then(|place| place.checked_sub(1))
            }
            _ => self.rows.iter().position(|row| row.key == key).map(|place| place as u32),
        };
        if let Some(place) = place {
            return place;
        }
        self.make_room_for(key);
        self.add_row(key)
    }

    // Each by itself, as one takes the allocator's stack, and the other that of a row.

    #[inline(never)]
    fn make_room_for(&mut self, key: Key) {
        self.rows.reserve(1);
        if let Key::At(location) = key {
            let len = (location as usize + 1).max(self.by_location.len());
            self.by_location.resize(len, 0);
        }
    }

    #[inline(never)]
    fn add_row(&mut self, key: Key) -> u32 {
        let place = self.rows.len() as u32;
        self.rows.push(LocationSums::new(key));
        if let Key::At(location) = key {
            self.by_location[location as usize] = place + 1;
        }
        place
    }

    fn worker(&mut self, index: u32) -> &mut WorkerSums {
        let place = place_of(&mut self.workers, index);
        &mut self.workers[place].1
    }

    /// Applies what threads claimed, in the order of time.
    #[inline(never)]
    fn apply_claims(&mut self) {
        let mut claims = std::mem::take(&mut self.claims);
        (0..).zip(&mut claims).for_each(|(number, claim)| claim.number = number);
        heapsort(&mut claims, |claim| (claim.worker, claim.at, claim.number));
        let from = self.window_from.max(self.reset_at);
        for &claim in &claims {
            self.worker(claim.worker).claimed(claim, from);
        }
        claims.clear();
        self.claims = claims;
    }

    /// Goes on to a later window: the polls that were open when one ended are known up to then.
    #[inline(never)]
    fn enter_window(&mut self, window: usize, windows: &[Window]) {
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
            self.workers.iter_mut().for_each(|(_, worker)| worker.skip_to(from));
        }
    }

    fn end_window(&mut self, at: u64) {
        let mut threads = std::mem::take(&mut self.threads);
        for (_, thread) in &mut threads {
            for poll in std::mem::take(&mut thread.polls) {
                if self.window >= self.windows_before {
                    self.cut_polls += 1;
                    let end = poll.held_until.unwrap_or(at);
                    let is_cut = poll.held_until.is_none();
                    self.poll(&poll, end.clamp(poll.start, at.max(poll.start)), is_cut);
                }
            }
            thread.enter_window();
        }
        self.threads = threads;
        let from = self.window_from.max(self.reset_at);
        self.workers.iter_mut().for_each(|(_, worker)| worker.add_up(at, from));
    }

    /// Adds up what goes on at `now`, after the last records.
    pub(crate) fn finish(&mut self, now: u64, windows: &[Window]) {
        self.enter_window(windows.len().saturating_sub(1), windows);
        let ended = windows.get(self.window).and_then(|window| window.to);
        let cut_before = self.cut_polls;
        self.end_window(ended.unwrap_or(now));
        if ended.is_none() {
            self.running_polls = self.cut_polls - cut_before;
            self.cut_polls = cut_before;
        }
    }

    /// Begins anew, at `now`: what is in `segments`, which are all that isn't added up yet, doesn't count when it is.
    pub(crate) fn reset(&mut self, now: u64, segments: &[Segment], windows: &[Window]) {
        // Polls that go on have their places.
        self.rows.iter_mut().for_each(|row| *row = LocationSums::new(row.key));
        self.stretches = Stretches::since(now);
        self.longest = Longest::default();
        self.longest.reserve();
        (self.cut_polls, self.reset_at) = (0, now);
        self.windows_before = windows.iter().filter(|window| window.to.is_some()).count();
        self.workers.iter_mut().for_each(|(_, worker)| worker.reset());
        self.threads.iter_mut().for_each(|(_, thread)| thread.before_reset = 0);
        for segment in segments {
            let place = place_of(&mut self.threads, segment.stream);
            self.threads[place].1.before_reset += segment.records().len();
        }
    }

    /// Whether it began anew then, in ticks.
    pub(crate) fn is_reset_at(&self, now: u64) -> bool {
        self.reset_at == now
    }

    /// From when on it is added up, in ticks.
    pub(crate) fn from(&self) -> u64 {
        self.stretches.from
    }
}

/// The place of `id`, which is created if necessary. A tree would take more stack, which hooks have little of.
fn place_of<T: Default>(all: &mut Vec<(u32, T)>, id: u32) -> usize {
    all.binary_search_by_key(&id, |(id, _)| *id).unwrap_or_else(|place| {
        all.insert(place, (id, T::default()));
        place
    })
}
