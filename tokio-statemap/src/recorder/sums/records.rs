//! What each record adds to the sums.

use std::cmp::Reverse;

use crate::recorder::live_tasks::{LiveTasks, LocationId, role};
use crate::recorder::record::{Kind, ROOT, Record, unpack_ready, unpack_spawn};
use crate::recorder::store::segment::StreamId;
use crate::recorder::sums::thread::{OpenPoll, Thread};
use crate::recorder::sums::worker::Does;
use crate::recorder::sums::{Key, LongestPoll, Sums, place_of};

impl Sums {
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
    pub(super) fn add_stream(
        &mut self,
        stream: StreamId,
        records: &[Record],
        live_tasks: &LiveTasks,
    ) {
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
                    // Often there are many in a row.
                    if later.first().is_some_and(|next| next.whole_poll(later.get(1)).is_some()) {
                        later = self.add_usual_polls(&thread, later);
                    }
                } else {
                    let poll = self.started(&mut thread, stream, *record, live_tasks);
                    self.end_poll(&poll, stream, end, live_tasks);
                }
                continue;
            }
            // The last poll of a task is common where tasks are short-lived.
            if let (Some(ended), true) = (record.last_poll(rest), is_plain && thread.runs()) {
                let task = ended.payload();
                self.terminated(task, ended.ticks, live_tasks);
                self.add_poll(&mut thread, task, *record, rest[1].ticks, live_tasks);
                later = &rest[2..];
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
    pub(super) fn poll(&mut self, poll: &OpenPoll, end: u64, is_cut: bool) {
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
                self.terminated(record.payload(), at, live_tasks);
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

    /// A task ended, unless it was never spawned, or polled: that is a blocking task, or a worker's loop.
    #[inline]
    fn terminated(&mut self, task: u64, at: u64, live_tasks: &LiveTasks) {
        let is_known = || self.recent_row(task).is_some() || live_tasks.lives(task);
        if self.counts && task & ROOT == 0 && is_known() {
            self.stretches.at(at).terminated += 1;
        }
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
        let place = self.row(key);
        if let Key::At(_) = key {
            // Its first poll comes soon.
            self.remember_row(task, place);
        }
        let row = &mut self.rows[place as usize];
        // A root future's number is used again, and stands for all. A task whose origin was recorded late, too, counts
        // there.
        row.tasks = match task & ROOT {
            0 => row.tasks + u64::from(!live_tasks.is_newly_known(task)),
            _ => 1,
        };
    }
}
