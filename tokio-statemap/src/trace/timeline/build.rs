//! Turns events into spans, one thread after the other, each thread's events in order.
//!
//! A poll begins and ends on one thread, so no event of another thread is needed to build it, and
//! one thread's events are in order whatever the clocks of other threads show. A task's polls on
//! different threads are ordered afterwards; a poll is then ended if the task was polled elsewhere
//! before the poll's end was recorded.
//!
//! A [`Thread`] follows open polls and workers itself, and is no visitor of the recorder's
//! [reader](crate::recorder::record::reader) of records: there are no records where a user passes events that were
//! drained. It also cuts polls where a window of recording ends.

mod draft;
mod thread;

use std::sync::Arc;
use std::time::Duration;

use crate::recorder::id_map::IdMap;
use crate::recorder::memory::live_tasks::Stream;
use crate::recorder::waits::names::NameId;
use crate::trace::event::{Event, SpawnLocation};
use crate::trace::snapshot::{QueueSeen, Usage};
use crate::trace::state::WorkerState;
use crate::trace::timeline::build::draft::{Draft, earliest};
pub(crate) use crate::trace::timeline::build::thread::CarriedPoll;
use crate::trace::timeline::build::thread::{Carried, Thread};
use crate::trace::timeline::cause::{PollCause, ThreadKind, causes, machine};
use crate::trace::timeline::gaps;
use crate::trace::timeline::machine::MachineTime;
use crate::trace::timeline::poll::{Poll, PollKey};
use crate::trace::timeline::pool::{BlockingPool, exhausted};
use crate::trace::timeline::pool_queue;
use crate::trace::timeline::steal::Steal;
use crate::trace::timeline::task::Task;
use crate::trace::timeline::tasks::Known;
use crate::trace::timeline::worker::{BlockingThread, Handover, Worker};
use crate::trace::timeline::workers::WorkersBuilder;
use crate::trace::wait_id::WaitId;

/// The tasks and threads built so far.
#[derive(Debug)]
pub(crate) struct Builder {
    /// The windows of recording, as start and end in ns.
    windows: Vec<(u64, u64)>,
    begin_ns: u64,
    /// The start of the most recent events, in ns.
    recent_ns: u64,
    /// `true` if a task in whose poll nothing clones a waker waits where it waited before.
    pub(crate) carries_waits: bool,
    tasks: IdMap<Draft>,
    /// The threads, sorted by their numbers.
    threads: Vec<(u32, Thread)>,
}

/// The finished parts of the timeline.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) tasks: Vec<Task>,
    /// The known tasks that have no event, sorted by id.
    pub(crate) quiet: Vec<Known>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) handovers: Vec<Handover>,
    pub(crate) causes: Vec<(PollKey, PollCause)>,
    pub(crate) machine: MachineTime,
    pub(crate) pool: BlockingPool,
}

/// Returns the thread with this number, inserting it if it is new. Numbers grow, so new ones come last.
fn thread_of(threads: &mut Vec<(u32, Thread)>, number: u32) -> &mut Thread {
    let at = threads.binary_search_by_key(&number, |(number, _)| *number).unwrap_or_else(|at| {
        threads.insert(at, (number, Thread::default()));
        at
    });
    &mut threads[at].1
}

/// Returns the position of a task in a list sorted by id.
fn place_of(known: &[Known], id: u64) -> Option<usize> {
    known.binary_search_by_key(&id, |known| known.id).ok()
}

impl Builder {
    /// Creates a builder for events from `begin_ns` on. Carried tasks without a time of their own
    /// are known from `recent_ns` on.
    pub(crate) fn new(windows: Vec<(u64, u64)>, begin_ns: u64, recent_ns: u64) -> Self {
        Self {
            windows,
            begin_ns,
            recent_ns,
            carries_waits: false,
            tasks: IdMap::default(),
            threads: Vec::new(),
        }
    }

    /// Adds a task that was alive at `at_ns`, where events become complete.
    pub(crate) fn carry_task(&mut self, id: u64, at_ns: u64, polled: bool) {
        let carried = &mut self.tasks.entry(id).or_default().carried;
        *carried = earliest(*carried, Some((at_ns, polled)));
    }

    /// Records that a task with events ended at `at_ns`, between the windows.
    pub(crate) fn ended(&mut self, id: u64, at_ns: u64) {
        let terminated = &mut self.tasks.entry(id).or_default().terminated;
        // If its end is also among the events, that one wins: its thread is known.
        *terminated = (*terminated).max(Some((at_ns, 0)));
    }

    /// Adds the state of a thread at `at_ns`, where events become complete: the `worker` that it
    /// was and the `polls` that it was in. Calls for one thread come in order of time.
    pub(crate) fn carry_thread(
        &mut self,
        thread: u32,
        at_ns: u64,
        known: &Stream,
        worker: Option<u32>,
        polls: Vec<CarriedPoll>,
    ) {
        let state = match (known.stopped, known.parked) {
            (true, _) => WorkerState::Stopped,
            (_, Some(true)) => WorkerState::Parked,
            _ => WorkerState::Running,
        };
        let worker = worker.map(|worker| (worker, state));
        let carried = Carried { at_ns, worker, polls };
        let window = self.windows.partition_point(|w| w.0 <= at_ns).saturating_sub(1);
        let state = thread_of(&mut self.threads, thread);
        state.is_used = true;
        if state.window == window && state.carried.is_empty() {
            state.carry(carried, thread);
        } else {
            state.carried.push_back((window, carried));
        }
    }

    /// Records the origin of a task whose spawn is not among the events.
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

    /// Adds the next event of its thread.
    pub(crate) fn event(&mut self, event: &Event) {
        let (number, time_ns) = (event.thread(), event.time_ns());
        let thread = thread_of(&mut self.threads, number);
        thread.enter_window(number, time_ns, &self.windows, &mut self.tasks);
        match *event {
            Event::TaskSpawn { task_id, location, .. } => {
                let parent = thread.polls.last().map(|&(id, _)| id);
                self.tasks.entry(task_id).or_default().spawn(time_ns, location, parent);
            }
            Event::TaskPollStart { task_id, worker, ready_ns, woken_by, .. } => {
                thread.claim_if_worker(time_ns, number, worker, WorkerState::Running);
                let poll = Poll::open(time_ns, number, worker).ready(ready_ns).by(woken_by);
                thread.polls.push((task_id, poll));
                thread.has_polled = true;
            }
            Event::TaskPollEnd { task_id, worker, .. } => {
                let begin_ns = thread.window_begin_ns(&self.windows).max(self.begin_ns);
                let cut = Poll::open(begin_ns.min(time_ns), number, worker).cut_left();
                let wait = thread.wait.take();
                thread.has_polled = true;
                if let Some(poll) = thread.end_poll(task_id, cut) {
                    let poll = poll.ended(time_ns).waits_at(wait);
                    self.tasks.entry(task_id).or_default().polls.push(poll);
                }
            }
            Event::TaskTerminate { task_id, .. } => {
                thread.terminate_task(time_ns);
                thread.pool.terminated(task_id, time_ns);
                let terminated = &mut self.tasks.entry(task_id).or_default().terminated;
                *terminated = (*terminated).max(Some((time_ns, number)));
            }
            Event::WorkerStart { worker, .. } => {
                thread.started_ns = Some(time_ns);
                thread.pool.started(time_ns);
                thread.claim_if_worker(time_ns, number, worker, WorkerState::Running);
                return; // it has done nothing yet
            }
            Event::WorkerStop { worker, .. } => {
                thread.stopped_ns = Some(time_ns);
                thread.claim_if_worker(time_ns, number, worker, WorkerState::Stopped);
            }
            Event::WorkerPark { worker, .. } => {
                if let Some(readings) = &mut thread.readings {
                    readings.parked(time_ns, true);
                }
                if let Some(worker) = worker {
                    match thread.parks.iter_mut().find(|(of, _)| *of == worker) {
                        Some((_, parks)) => *parks += 1,
                        None => thread.parks.push((worker, 1)),
                    }
                }
                thread.claim_if_worker(time_ns, number, worker, WorkerState::Parked);
            }
            Event::WorkerUnpark { worker, .. } => {
                if let Some(readings) = &mut thread.readings {
                    readings.parked(time_ns, false);
                }
                thread.claim_if_worker(time_ns, number, worker, WorkerState::Running);
            }
        }
        thread.is_used = true;
        if let Some(readings) = &mut thread.readings {
            readings.event(time_ns, !thread.polls.is_empty());
        }
    }

    /// Adds the next reading of a thread's usage, in order with its events.
    pub(crate) fn usage(&mut self, number: u32, usage: Usage) {
        let thread = thread_of(&mut self.threads, number);
        let event_ns = usage.time_ns - usage.late_ns;
        thread.enter_window(number, event_ns, &self.windows, &mut self.tasks);
        thread.readings.get_or_insert_default().add(usage);
    }

    /// Adds the next observation of the blocking pool's queue by a thread, in order with its
    /// events.
    pub(crate) fn queue(&mut self, thread: u32, seen: QueueSeen) {
        thread_of(&mut self.threads, thread).pool.saw(seen);
    }

    /// Records where the task waits after the next poll that ends on `thread`.
    pub(crate) fn waits(&mut self, thread: u32, wait: Option<WaitId>) {
        thread_of(&mut self.threads, thread).wait = wait;
    }

    /// Records the name of a task.
    pub(crate) fn name(&mut self, id: u64, name: NameId) {
        // Names of tasks that ended before the kept events are dropped.
        if let Some(draft) = self.tasks.get_mut(&id) {
            draft.name = Some(name);
        }
    }

    /// Adds the tasks and threads of another builder.
    pub(crate) fn merge(mut self, later: Self) -> Self {
        // Both maps iterate in the same order; inserting in that order into a small map is slow.
        self.tasks.reserve(later.tasks.len().saturating_sub(self.tasks.len()));
        for (id, draft) in later.tasks {
            self.tasks.entry(id).or_default().add(draft);
        }
        for (number, thread) in later.threads {
            *thread_of(&mut self.threads, number) = thread;
        }
        self
    }

    /// Returns the finished parts. `known` are the tasks from before the left edge, sorted by id;
    /// `steal` are counts of the time taken by the host; `locate` finds a task's spawn location.
    pub(crate) fn finish(
        mut self,
        mut known: Vec<Known>,
        long_poll: Duration,
        names: &[Arc<str>],
        steal: &[(u64, u64)],
        locate: &dyn Fn(&Known) -> Option<SpawnLocation>,
    ) -> Built {
        let last_window = self.windows.len().saturating_sub(1);
        let mut workers = WorkersBuilder::default();
        let mut blocking_threads = Vec::new();
        let (mut readings, mut pool) = (Vec::new(), Vec::new());
        let (mut ended, mut ended_on) = (0, 0);
        for (number, mut thread) in self.threads {
            // A thread without events in a window stays as it was at the window's start.
            if let Some(&(window, _)) = thread.carried.back() {
                let from = self.windows.get(window).map_or(0, |window| window.0);
                thread.enter_window(number, from, &self.windows, &mut self.tasks);
            }
            let kind = thread.kind();
            if kind == ThreadKind::Pool {
                ended += thread.pool.ended;
                ended_on += u64::from(thread.pool.ended > 0);
            }
            pool.append(&mut thread.pool.seen);
            if let Some(mut of_thread) = thread.readings.take() {
                of_thread.kind = kind;
                readings.push((number, of_thread));
            }
            for (id, poll) in std::mem::take(&mut thread.polls) {
                // A poll can only still be running in the last window.
                let poll = match self.windows.get(thread.window) {
                    Some(&(_, to)) if thread.window < last_window => {
                        poll.cut_right(to.max(poll.start_ns()))
                    }
                    _ => poll,
                };
                self.tasks.entry(id).or_default().polls.push(poll);
            }
            // One whose start isn't kept was there before what is.
            let is_of_pool = kind == ThreadKind::Pool;
            let started_ns = thread.started_ns.or(is_of_pool.then_some(self.recent_ns));
            if let (Some(started_ns), true) = (started_ns, thread.claims.is_empty()) {
                blocking_threads.push(BlockingThread {
                    thread: number,
                    started_ns,
                    stopped_ns: thread.stopped_ns,
                });
            }
            workers.add(thread.claims, thread.parks);
        }
        let is_task = |id| self.tasks.get(&id).is_some_and(Draft::is_task);
        let is_late = |id| place_of(&known, id).is_some();
        let mut seen_of_pool = Vec::with_capacity(pool.len());
        for seen in &pool {
            if seen.task.is_none_or(|id| !is_task(id) && !is_late(id)) {
                seen_of_pool.push(*seen);
            }
        }
        let pool = seen_of_pool;
        let pool = BlockingPool {
            ended,
            ended_on,
            threads: blocking_threads,
            queue: pool_queue::over_time(&pool),
            exhausted: exhausted(pool, &self.windows, long_poll),
        };
        let (begin_ns, recent_ns) = (self.begin_ns, self.recent_ns);
        let gaps = gaps::between_windows(&self.windows, begin_ns);
        let mut tasks = Vec::with_capacity(self.tasks.len());
        for (id, mut draft) in self.tasks {
            if let Some(place) = place_of(&known, id) {
                let known = &mut known[place];
                let carried = known.lives.then_some((recent_ns, known.polled));
                // It has events, so it is not quiet.
                known.lives = false;
                let (location, parent) = (locate(known), known.parent_id());
                let wait = known.wait();
                let mut before = Draft { location, parent, carried, wait, ..Draft::default() };
                before.add(draft);
                draft = before;
            }
            draft.end_waits(id, self.carries_waits, (&self.windows, recent_ns));
            draft.end_waits_at_gaps(&gaps, recent_ns);
            if let Some(task) = draft.finish(id, begin_ns, names) {
                tasks.push(task);
            }
        }
        crate::util::sort::by_key(&mut tasks, |task| task.key);
        let (workers, handovers) = workers.finish(&tasks);
        known.retain(|known| known.lives);
        let machine = machine(&mut readings, &mut Steal::new(steal));
        let causes = causes(&readings, &tasks, long_poll);
        Built { tasks, quiet: known, workers, handovers, causes, machine, pool }
    }
}
