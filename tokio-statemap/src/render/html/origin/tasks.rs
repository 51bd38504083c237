//! Writes what the columns lack of tasks.
//!
//! Items are numbered in the order of the columns: tasks, polls, waits (where a task begins to wait), and transitions.
//! The lists are, in this order:
//!
//! - the spawn locations: their number, and the file, line and column of each;
//! - for tasks, the spawn location (from 1 on, 0 for none); otherwise that of the task before;
//! - for tasks, the parent if its row is missing: 0 and the number of a root future, or 1 and an id;
//! - for transitions, the time: 1 if it is earlier than in the columns, else 0, and the difference in ns;
//! - for waits, the index of the wait (0: unknown); otherwise that of the tag. The tag behind all waits is that of
//!   tasks whose waker nothing took;
//! - for polls, the worker from 1 on, or 0; otherwise that of the columns, or if they have none, that of the poll
//!   before;
//! - for polls, the thread; otherwise the one that the worker was last on;
//! - for polls, the sides on which they are cut; otherwise none;
//! - for polls, who woke the task, packed; otherwise that of the columns.

use std::io;

use super::exceptions::Exceptions;
use super::{Placed, Run, TASKS, text, varint};
use crate::analysis::picture::{Transition, Waker};
use crate::recorder::id_map::IdMap;
use crate::trace::event::SpawnLocation;
use crate::trace::state::TaskState;
use crate::trace::timeline::{Poll, Task, TaskKey, Timeline, WaitId};
use crate::util::map::Map;

impl Run<'_> {
    pub(super) fn tasks(&self, section: Placed<'_, '_>) -> io::Result<Vec<u8>> {
        let mut bytes = self.head(TASKS, section)?;
        let mut of_tasks = OfTasks::default();
        if let Some((_, section)) = section {
            of_tasks.has_workers = section.has_workers();
            of_tasks.has_tags = section.has_tags();
            for (nth, &row) in (0..).zip(&section.rows) {
                let task = self.timeline.tasks.at(row as usize);
                of_tasks.task(&task, nth, section.source.parent(row).is_some());
                let mut real = self.timeline.transitions(&task);
                let mut life = Life::new(&task);
                // A row may have millions of transitions.
                section.source.walk(row, &mut |drawn| {
                    if let Some((time_ns, state)) = real.next() {
                        of_tasks.transition(self, &mut life, (time_ns, state), &drawn);
                    }
                });
            }
        }
        of_tasks.end(&mut bytes);
        Ok(bytes)
    }
}

/// The position in the life of a task.
struct Life<'a> {
    polls: std::slice::Iter<'a, Poll>,
    /// The place of the task's next wait.
    wait: Option<WaitId>,
}

impl<'a> Life<'a> {
    fn new(task: &'a Task) -> Self {
        let wait = task.carried_wait.and_then(|carried| carried.wait);
        Self { polls: task.polls.iter(), wait }
    }
}

/// The facts about tasks that the columns lack.
#[derive(Default)]
struct OfTasks {
    has_workers: bool,
    has_tags: bool,
    /// The number of each location.
    locations: Map<SpawnLocation, u64>,
    location_list: Vec<SpawnLocation>,
    last_location: u64,
    of_location: Exceptions,
    of_parent: Exceptions,
    of_time: Exceptions,
    of_wait: Exceptions,
    of_worker: Exceptions,
    of_thread: Exceptions,
    of_cut: Exceptions,
    of_waker: Exceptions,
    transitions: u64,
    waits: u64,
    polls: u64,
    last_worker: u64,
    /// The thread that each worker, by its number, was last on.
    threads: IdMap<u64>,
}

impl OfTasks {
    fn task(&mut self, task: &Task, nth: u64, has_parent: bool) {
        let location = task.location.map_or(0, |location| {
            let next = self.location_list.len() as u64 + 1;
            let number = *self.locations.get_or_insert_with(location, || next);
            if number == next {
                self.location_list.push(location);
            }
            number
        });
        if location != self.last_location {
            self.of_location.number(nth, location);
            self.last_location = location;
        }
        if let (Some(parent), false) = (task.parent, has_parent) {
            let (kind, number) = match parent {
                TaskKey::Root(number) => (0, u64::from(number)),
                TaskKey::Spawned(id) => (1, id),
            };
            let to = self.of_parent.add(nth);
            varint(kind, to);
            varint(number, to);
        }
    }

    fn transition(
        &mut self,
        run: &Run<'_>,
        life: &mut Life<'_>,
        (time_ns, state): (u64, TaskState),
        drawn: &Transition,
    ) {
        run.time(time_ns, drawn.time_ns, self.transitions, &mut self.of_time);
        self.transitions += 1;
        match state {
            TaskState::Running => {
                let poll = life.polls.next();
                life.wait = poll.and_then(Poll::wait);
                self.poll(poll, drawn);
            }
            TaskState::Waiting => self.wait(run.timeline, life.wait, drawn),
            _ => {}
        }
    }

    fn wait(&mut self, timeline: &Timeline, wait: Option<WaitId>, drawn: &Transition) {
        let tag = drawn.tag.filter(|_| self.has_tags);
        let expected = tag.and_then(|tag| match tag as usize == timeline.places.waits.len() {
            true => Some(WaitId::NOTHING),
            false => WaitId::new(u16::try_from(tag + 1).ok()?),
        });
        if wait != expected {
            self.of_wait.number(self.waits, wait.map_or(0, |wait| wait.number().into()));
        }
        self.waits += 1;
    }

    fn poll(&mut self, poll: Option<&Poll>, drawn: &Transition) {
        let number = |worker: Option<u32>| worker.map_or(0, |worker| u64::from(worker) + 1);
        let worker = number(poll.and_then(Poll::worker));
        let expected = if self.has_workers { number(drawn.worker) } else { self.last_worker };
        if worker != expected {
            self.of_worker.number(self.polls, worker);
        }
        self.last_worker = worker;
        let thread = poll.map_or(u32::MAX, Poll::thread);
        if self.threads.insert(worker, thread.into()) != Some(thread.into()) {
            self.of_thread.number(self.polls, thread.into());
        }
        if let Some(cuts) = poll.map(Poll::cuts).filter(|&cuts| cuts > 0) {
            self.of_cut.number(self.polls, cuts.into());
        }
        let woken_by = poll.and_then(Poll::woken_by);
        if let (Some(by), None | Some(Waker::NotShown)) = (woken_by, drawn.woken_by) {
            self.of_waker.number(self.polls, by.pack());
        }
        self.polls += 1;
    }

    fn end(&self, to: &mut Vec<u8>) {
        varint(self.location_list.len() as u64, to);
        for location in &self.location_list {
            text(location.file, to);
            varint(location.line.into(), to);
            varint(location.column.into(), to);
        }
        self.of_location.end(to);
        self.of_parent.end(to);
        self.of_time.end(to);
        self.of_wait.end(to);
        self.of_worker.end(to);
        self.of_thread.end(to);
        self.of_cut.end(to);
        self.of_waker.end(to);
    }
}
