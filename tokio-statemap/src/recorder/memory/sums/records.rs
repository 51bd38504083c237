//! Adds each record to the sums.

use std::cmp::Reverse;

use crate::recorder::memory::by_id::place_of;
use crate::recorder::memory::live_tasks::LiveTasks;
use crate::recorder::memory::sums::thread::{Acts, Begun, PollOfRow};
use crate::recorder::memory::sums::worker::Does;
use crate::recorder::memory::sums::{Key, LongestPoll, Sums};
use crate::recorder::record::reader::{Entry, OpenPoll, ThreadState, Visitor, WholePoll};
use crate::recorder::record::{Kind, LocationId, ROOT, Record, WaitId, after_note};
use crate::recorder::store::segment::StreamId;

impl Sums {
    /// Adds up the records of one stream.
    #[inline(never)]
    pub(super) fn add_stream(
        &mut self,
        stream: StreamId,
        records: &[Record],
        live_tasks: &LiveTasks,
    ) {
        // Taken out, so that the rest of `self` can be changed meanwhile.
        let place = place_of(&mut self.threads, stream);
        let (_, mut thread) = self.threads.remove(place);
        // This is the last record of a thread.
        let has_ended = records.last().is_some_and(|last| last.kind() == Kind::End);
        let are_plain = live_tasks.roles().is_empty();
        let (before, later) = records.split_at(thread.before_reset.min(records.len()));
        thread.before_reset -= before.len();
        let acts = &mut thread.acts;
        let mut add = Add { sums: self, acts, stream, live_tasks, are_plain };
        if !before.is_empty() {
            add.uncounted(&mut thread.state, before);
        }
        thread.state.read(later, &mut add);
        if !has_ended || !thread.state.polls.is_empty() {
            self.threads.insert(place, (stream, thread));
        }
    }

    /// Adds a poll that held its worker until `end`. `is_cut` is `true` if the poll is known only in part.
    #[inline]
    pub(super) fn poll(&mut self, poll: &PollOfRow, end: u64, is_cut: bool) {
        let length = end.saturating_sub(poll.start);
        let Begun { row: place, worker, .. } = poll.more;
        let row = &mut self.rows[place as usize];
        row.poll(length, worker.is_some(), poll.ready_ns, self.long_poll);
        let held = if worker.is_some() { length } else { 0 };
        self.stretches.poll(poll.start, length, held, place);
        if let Some(worker) = worker {
            match self.workers.get_mut(worker as usize) {
                // Usually all workers are known.
                Some((index, worker_sums)) if *index == worker => worker_sums.polls += 1,
                _ => self.worker(worker).polls += 1,
            }
        }
        if self.longest.may_have(length) {
            self.longest.consider(LongestPoll {
                length,
                start: Reverse(poll.start),
                task: Reverse(poll.task),
                row: place,
                worker,
                is_cut,
            });
        }
    }

    /// Adds a task that was spawned.
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
        let place = self.row(key);
        if let Key::At(_) = key {
            // Its first poll comes soon.
            self.remember_row(task, place);
        }
        let row = &mut self.rows[place as usize];
        // A root future's number is reused, and stands for all its futures. A task whose origin was recorded late, too,
        // counts there.
        row.tasks = match task & ROOT {
            0 => row.tasks + u64::from(!live_tasks.is_newly_known(task)),
            _ => 1,
        };
    }

    /// Adds a task that was spawned before recording began, once it is seen.
    #[inline(never)]
    fn late_origin(&mut self, task: u64, live_tasks: &LiveTasks) {
        if self.counts && live_tasks.is_newly_known(task) {
            let location = live_tasks.task(task).and_then(|known| known.location);
            let row = self.row(location.map_or(Key::Unknown, Key::At));
            self.rows[row as usize].tasks += 1;
        }
    }

    /// Adds the end of a task, unless the task was never spawned or polled: then it is a blocking task, or a worker's
    /// loop.
    #[inline]
    fn terminated(&mut self, task: u64, at: u64, live_tasks: &LiveTasks) {
        let is_known = || self.recent_row(task).is_some() || live_tasks.lives(task);
        if self.counts && task & ROOT == 0 && is_known() {
            self.stretches.at(at).terminated += 1;
        }
    }
}

/// Adds up the records of one thread.
struct Add<'a> {
    sums: &'a mut Sums,
    acts: &'a mut Acts,
    stream: StreamId,
    live_tasks: &'a LiveTasks,
    /// `true` if no thread became a worker in the records that are added up.
    are_plain: bool,
}

impl Visitor for Add<'_> {
    type Poll = Begun;

    #[inline]
    fn whole_poll<'a>(
        &mut self,
        thread: &mut ThreadState<Begun>,
        poll: WholePoll<'a>,
    ) -> &'a [Record] {
        if !(self.are_plain && self.acts.runs_as(thread.worker)) {
            self.add_unusual(thread, &poll);
            return poll.rest;
        }
        if let Some(terminated) = poll.terminated {
            self.sums.terminated(poll.task, terminated, self.live_tasks);
        }
        self.add_poll(thread, &poll);
        // Often there are many polls in a row.
        let [start, rest @ ..] = after_note(poll.rest) else { return poll.rest };
        if poll.terminated.is_none() && start.whole_poll(rest.first()).is_some() {
            return self.sums.add_usual_polls(thread, poll.rest);
        }
        poll.rest
    }

    fn poll_starts(&mut self, thread: &ThreadState<Begun>, poll: &OpenPoll) -> Begun {
        self.begin(thread.worker, poll.task, poll.start)
    }

    #[inline(never)]
    fn poll_ends(
        &mut self,
        thread: &ThreadState<Begun>,
        (task, _): (u64, Option<WaitId>),
        open: Option<PollOfRow>,
        at: u64,
    ) {
        if let Some(mut poll) = open {
            if self.sums.rows[poll.more.row as usize].key == Key::Unknown {
                poll.more.row = self.sums.row_of(task, self.live_tasks);
            }
            self.end_poll(&poll, at);
        } else if self.sums.counts {
            self.add_cut_poll(thread.worker, task, at);
        }
        self.acts.is_used = true;
    }

    fn other(&mut self, thread: &mut ThreadState<Begun>, entry: Entry, at: u64) {
        match entry {
            Entry::Spawn { task, location } => {
                self.sums.spawned(task, location, at, self.live_tasks);
            }
            Entry::LateOrigin { task, .. } => self.sums.late_origin(task, self.live_tasks),
            Entry::Terminate { task } => {
                if thread.polls.is_empty() {
                    self.acts.forget_claim();
                }
                self.sums.terminated(task, at, self.live_tasks);
            }
            Entry::ThreadStart => {
                self.acts.started = Some(at);
                // The thread has done nothing yet.
                return self.acts_as(thread.worker, at, Does::Run);
            }
            Entry::ThreadStop => self.acts_as(thread.worker, at, Does::Stop),
            Entry::Park => {
                if let (Some(worker), true) = (thread.worker, self.sums.counts) {
                    self.sums.worker(worker).parks += 1;
                }
                self.acts_as(thread.worker, at, Does::Park);
            }
            Entry::Unpark => self.acts_as(thread.worker, at, Does::Run),
            // The other entries add nothing to the sums.
            _ => return,
        }
        self.acts.is_used |= entry.is_event();
    }
}

impl Add<'_> {
    /// Reads the records that were there at a reset, which don't count.
    #[inline(never)]
    fn uncounted(&mut self, thread: &mut ThreadState<Begun>, before: &[Record]) {
        self.sums.counts = false;
        for record in before {
            thread.read_one(*record, self);
        }
        self.sums.counts = true;
    }

    #[inline]
    fn acts_as(&mut self, worker: Option<u32>, at: u64, does: Does) {
        self.acts.add(worker, (at, does), self.stream, &mut self.sums.claims);
    }

    /// Adds a whole poll of a thread, if nothing else changes for the thread.
    #[inline(never)]
    fn add_poll(&mut self, thread: &mut ThreadState<Begun>, poll: &WholePoll<'_>) {
        let ready_ns = thread.notes.ready_ns_of(*poll.start);
        let (task, start) = (poll.task, poll.start.ticks);
        let row = self.sums.row_of(task, self.live_tasks);
        let more = Begun { row, worker: thread.worker, held_until: None };
        self.sums.poll(&OpenPoll { task, start, ready_ns, more }, poll.end.ticks, false);
    }

    /// Adds a whole poll with which the thread becomes a worker, or during which another thread may.
    #[inline(never)]
    fn add_unusual(&mut self, thread: &mut ThreadState<Begun>, poll: &WholePoll<'_>) {
        let ready_ns = thread.notes.ready_ns_of(*poll.start);
        let (task, start) = (poll.task, poll.start.ticks);
        let more = self.begin(thread.worker, task, start);
        if let Some(terminated) = poll.terminated {
            self.sums.terminated(task, terminated, self.live_tasks);
        }
        self.end_poll(&OpenPoll { task, start, ready_ns, more }, poll.end.ticks);
    }

    #[inline(never)]
    fn begin(&mut self, worker: Option<u32>, task: u64, start: u64) -> Begun {
        self.acts_as(worker, start, Does::Run);
        self.acts.is_used = true;
        Begun { row: self.sums.row_of(task, self.live_tasks), worker, held_until: None }
    }

    #[inline(never)]
    fn end_poll(&mut self, poll: &PollOfRow, end: u64) {
        if !self.sums.counts {
            return;
        }
        let mut held_end = poll.more.held_until.unwrap_or(end).min(end);
        let roles = self.live_tasks.roles();
        if let (Some(worker), false) = (poll.more.worker, roles.is_empty()) {
            let later =
                roles.partition_point(|role| (role.worker, role.at) <= (worker, poll.start));
            for role in &roles[later..] {
                if role.worker != worker || role.at >= held_end {
                    break;
                }
                if role.stream != self.stream {
                    held_end = role.at;
                }
            }
        }
        self.sums.poll(poll, held_end, false);
    }

    /// Adds the end of a poll that began before this window. It isn't known whether its worker was the same all the
    /// time.
    #[inline(never)]
    fn add_cut_poll(&mut self, worker: Option<u32>, task: u64, at: u64) {
        self.sums.cut_polls += 1;
        let row = self.sums.row_of(task, self.live_tasks);
        let start = self.sums.window_from.min(at);
        let more = Begun { row, worker, held_until: None };
        self.sums.poll(&OpenPoll { task, start, ready_ns: None, more }, at, true);
    }
}
