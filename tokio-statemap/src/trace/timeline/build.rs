//! Events → spans: the events of each thread in their order, the threads one after the other.
//!
//! A poll begins and ends on one thread, so that no event of another thread is needed to know it,
//! and what one thread saw is in order whatever the clocks of the others show. Only then are a
//! task's polls on different threads put in order, and those ended that were over when the task was
//! polled elsewhere.

mod draft;
mod thread;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::recorder::id_map::IdMap;
use crate::recorder::live_tasks::Stream;
use crate::recorder::waits::names::NameId;
use crate::trace::event::{Event, SpawnLocation};
use crate::trace::snapshot::{QueueSeen, Usage};
use crate::trace::state::WorkerState;
use crate::trace::timeline::build::draft::{Draft, earliest};
pub(crate) use crate::trace::timeline::build::thread::CarriedPoll;
use crate::trace::timeline::build::thread::{Carried, Thread};
use crate::trace::timeline::cause::{PollCause, causes, machine};
use crate::trace::timeline::pool::exhausted;
use crate::trace::timeline::pool_queue;
use crate::trace::timeline::steal::Steal;
use crate::trace::timeline::workers::WorkersBuilder;
use crate::trace::timeline::{
    BlockingThread, ExhaustedPool, Handover, Known, MachineTime, Poll, PollKey, Task, WaitId,
    Worker,
};

/// What is known of tasks and threads so far.
#[derive(Debug)]
pub(crate) struct Builder {
    /// The windows of recording, from and to in ns.
    windows: Vec<(u64, u64)>,
    begin_ns: u64,
    /// Where the recent events begin, in ns.
    recent_ns: u64,
    tasks: IdMap<Draft>,
    threads: BTreeMap<u32, Thread>,
}

/// The timeline's parts.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) tasks: Vec<Task>,
    /// The tasks that were known and have no event, by their ids.
    pub(crate) quiet: Vec<Known>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) blocking_threads: Vec<BlockingThread>,
    pub(crate) handovers: Vec<Handover>,
    pub(crate) causes: Vec<(PollKey, PollCause)>,
    pub(crate) machine: MachineTime,
    pub(crate) exhausted_pool: Option<ExhaustedPool>,
    pub(crate) pool_queue: Vec<(u64, u64)>,
}

impl Builder {
    /// Of events from `begin_ns` on. What is carried is known from `recent_ns` on, unless it says from when.
    pub(crate) fn new(windows: Vec<(u64, u64)>, begin_ns: u64, recent_ns: u64) -> Self {
        Self { windows, begin_ns, recent_ns, tasks: IdMap::default(), threads: BTreeMap::new() }
    }

    /// A task lived at `at_ns`, where events begin to be complete.
    pub(crate) fn carry_task(&mut self, id: u64, at_ns: u64, polled: bool) {
        let carried = &mut self.tasks.entry(id).or_default().carried;
        *carried = earliest(*carried, Some((at_ns, polled)));
    }

    /// A task that has events ended at `at_ns`, between the windows.
    pub(crate) fn ended(&mut self, id: u64, at_ns: u64) {
        let terminated = &mut self.tasks.entry(id).or_default().terminated;
        // Where it is among the events, too, it is known on which thread.
        *terminated = (*terminated).max(Some((at_ns, 0)));
    }

    /// A thread, as it was at `at_ns`, where events begin to be complete, when it was `worker`; `polls` are those
    /// that it was in. Later ones after earlier ones.
    pub(crate) fn carry_thread(
        &mut self,
        thread: u32,
        at_ns: u64,
        known: &Stream,
        worker: Option<u32>,
        polls: impl Iterator<Item = CarriedPoll>,
    ) {
        let state = match (known.stopped, known.parked) {
            (true, _) => WorkerState::Stopped,
            (_, Some(true)) => WorkerState::Parked,
            _ => WorkerState::Running,
        };
        let worker = worker.map(|worker| (worker, state));
        let carried = Carried { at_ns, worker, polls: polls.collect() };
        let window = self.windows.partition_point(|w| w.0 <= at_ns).saturating_sub(1);
        let state = self.threads.entry(thread).or_default();
        state.is_used = true;
        if state.window == window && state.carried.is_empty() {
            state.carry(carried, thread);
        } else {
            state.carried.push_back((window, carried));
        }
    }

    /// The origin of a task whose spawn is not among the events.
    pub(crate) fn record_origin(
        &mut self,
        id: u64,
        location: Option<SpawnLocation>,
        parent: Option<u64>,
    ) {
        let draft = self.tasks.entry(id).or_default();
        draft.location = location.or(draft.location);
        draft.parent = parent.or(draft.parent);
    }

    /// The next event of its thread.
    pub(crate) fn event(&mut self, event: &Event) {
        let (number, time_ns) = (event.thread(), event.time_ns());
        let thread = self.threads.entry(number).or_default();
        thread.enter_window(number, time_ns, &self.windows, &mut self.tasks);
        match *event {
            Event::TaskSpawn { task_id, location, .. } => {
                let parent = thread.polls.last().map(|&(id, _)| id);
                self.tasks.entry(task_id).or_default().spawn(time_ns, location, parent);
            }
            Event::TaskPollStart { task_id, worker, ready_ns, .. } => {
                thread.claim_of(time_ns, number, worker, WorkerState::Running);
                let poll = Poll::open(time_ns, number, worker).ready(ready_ns);
                thread.polls.push((task_id, poll));
            }
            Event::TaskPollEnd { task_id, worker, .. } => {
                let begin_ns = thread.window_begin_ns(&self.windows).max(self.begin_ns);
                let cut = Poll::open(begin_ns.min(time_ns), number, worker).cut_left();
                let wait = thread.wait.take();
                if let Some(poll) = thread.end_poll(task_id, cut) {
                    let poll = poll.ended(time_ns).waits_at(wait);
                    self.tasks.entry(task_id).or_default().polls.push(poll);
                }
            }
            Event::TaskTerminate { task_id, .. } => {
                thread.terminate_task(time_ns);
                thread.of_pool.terminated(task_id, time_ns);
                let terminated = &mut self.tasks.entry(task_id).or_default().terminated;
                *terminated = (*terminated).max(Some((time_ns, number)));
            }
            Event::WorkerStart { worker, .. } => {
                thread.started_ns = Some(time_ns);
                thread.of_pool.started(time_ns);
                thread.claim_of(time_ns, number, worker, WorkerState::Running);
                return; // it has done nothing yet
            }
            Event::WorkerStop { worker, .. } => {
                thread.stopped_ns = Some(time_ns);
                thread.claim_of(time_ns, number, worker, WorkerState::Stopped);
            }
            Event::WorkerPark { worker, .. } => {
                if let Some(readings) = &mut thread.readings {
                    readings.parked(time_ns, true);
                }
                if let Some(worker) = worker {
                    *thread.parks.entry(worker).or_default() += 1;
                }
                thread.claim_of(time_ns, number, worker, WorkerState::Parked);
            }
            Event::WorkerUnpark { worker, .. } => {
                if let Some(readings) = &mut thread.readings {
                    readings.parked(time_ns, false);
                }
                thread.claim_of(time_ns, number, worker, WorkerState::Running);
            }
        }
        thread.is_used = true;
        if let Some(readings) = &mut thread.readings {
            readings.event(time_ns, !thread.polls.is_empty());
        }
    }

    /// The next reading of a thread, among its events.
    pub(crate) fn usage(&mut self, number: u32, usage: Usage) {
        let thread = self.threads.entry(number).or_default();
        let event_ns = usage.time_ns - usage.late_ns;
        thread.enter_window(number, event_ns, &self.windows, &mut self.tasks);
        thread.readings.get_or_insert_default().add(usage);
    }

    /// The next thing that a thread saw of the blocking pool's queue, among its events.
    pub(crate) fn queue(&mut self, thread: u32, seen: QueueSeen) {
        self.threads.entry(thread).or_default().of_pool.saw(seen);
    }

    /// The poll that ends next on `thread` ends in waiting.
    pub(crate) fn waits(&mut self, thread: u32, wait: WaitId) {
        self.threads.entry(thread).or_default().wait = Some(wait);
    }

    /// The task has this name.
    pub(crate) fn name(&mut self, id: u64, name: NameId) {
        // A task that ended before what is kept is none.
        if let Some(draft) = self.tasks.get_mut(&id) {
            draft.name = Some(name);
        }
    }

    /// Adds what is known from other threads.
    pub(crate) fn merge(mut self, later: Self) -> Self {
        // Both maps have their entries in the same order: to fill a small one in that order is slow.
        self.tasks.reserve(later.tasks.len().saturating_sub(self.tasks.len()));
        for (id, draft) in later.tasks {
            self.tasks.entry(id).or_default().add(draft);
        }
        self.threads.extend(later.threads);
        self
    }

    /// The timeline's parts, in order. `known` are the tasks from before the left edge, by their
    /// ids; `steal` are counts of what the host took; `locate` finds where a task was spawned.
    pub(crate) fn finish(
        mut self,
        mut known: Vec<Known>,
        long_poll: Duration,
        names: &[Arc<str>],
        steal: &[(u64, u64)],
        locate: impl Fn(&Known) -> Option<SpawnLocation>,
    ) -> Built {
        let last_window = self.windows.len().saturating_sub(1);
        let mut workers = WorkersBuilder::default();
        let mut blocking_threads = Vec::new();
        let (mut readings, mut of_pool) = (Vec::new(), Vec::new());
        for (number, mut thread) in self.threads {
            // In a window that it has no event in, it stayed as it was where that begins.
            if let Some(&(window, _)) = thread.carried.back() {
                let from = self.windows.get(window).map_or(0, |window| window.0);
                thread.enter_window(number, from, &self.windows, &mut self.tasks);
            }
            of_pool.append(&mut thread.of_pool.seen);
            readings.extend(thread.readings.take().map(|of_thread| (number, of_thread)));
            for (id, poll) in thread.polls.drain(..) {
                // Only in the last window may it still run.
                let poll = match self.windows.get(thread.window) {
                    Some(&(_, to)) if thread.window < last_window => {
                        poll.cut_right(to.max(poll.start_ns()))
                    }
                    _ => poll,
                };
                self.tasks.entry(id).or_default().polls.push(poll);
            }
            if let (Some(started_ns), true) = (thread.started_ns, thread.claims.is_empty()) {
                blocking_threads.push(BlockingThread {
                    thread: number,
                    started_ns,
                    stopped_ns: thread.stopped_ns,
                });
            }
            workers.add(thread.claims, thread.parks);
        }
        let is_task = |id| self.tasks.get(&id).is_some_and(Draft::is_task);
        let is_late = |id| known.binary_search_by_key(&id, |known| known.id).is_ok();
        of_pool.retain(|seen| seen.task.is_none_or(|id| !is_task(id) && !is_late(id)));
        let pool_queue = pool_queue::over_time(&of_pool);
        let exhausted_pool = exhausted(of_pool, &self.windows, long_poll);
        let (begin_ns, recent_ns) = (self.begin_ns, self.recent_ns);
        let drafts = self.tasks.into_iter().map(|(id, draft)| {
            let Ok(place) = known.binary_search_by_key(&id, |known| known.id) else {
                return (id, draft);
            };
            let known = &mut known[place];
            let carried = known.lives.then_some((recent_ns, known.polled));
            // It isn't quiet.
            known.lives = false;
            let (location, parent) = (locate(known), known.parent_id());
            let mut before = Draft { location, parent, carried, ..Draft::default() };
            before.add(draft);
            (id, before)
        });
        let mut tasks: Vec<_> =
            drafts.filter_map(|(id, d)| d.finish(id, begin_ns, names)).collect();
        tasks.sort_unstable_by_key(|task| task.key);
        let (workers, handovers) = workers.finish(&tasks);
        known.retain(|known| known.lives);
        let machine = machine(&mut readings, &mut Steal::new(steal));
        let causes = causes(&readings, &tasks, long_poll);
        Built {
            tasks,
            quiet: known,
            workers,
            blocking_threads,
            handovers,
            causes,
            machine,
            exhausted_pool,
            pool_queue,
        }
    }
}
