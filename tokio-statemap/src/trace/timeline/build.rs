//! Events → spans: the events of each thread in their order, the threads one after the other.
//!
//! A poll begins and ends on one thread, so that no event of another thread is needed to know it,
//! and what one thread saw is in order whatever the clocks of the others show. Only then are a
//! task's polls on different threads put in order, and those ended that were over when the task was
//! polled elsewhere.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::recorder::id_map::IdMap;
use crate::recorder::live_tasks::Stream;
use crate::recorder::waits::names::NameId;
use crate::trace::event::{Event, SpawnLocation};
use crate::trace::snapshot::{QueueSeen, Usage};
use crate::trace::state::{TaskState, WorkerState};
use crate::trace::timeline::cause::{PollCause, Readings, causes, machine};
use crate::trace::timeline::pool::{OfPool, exhausted};
use crate::trace::timeline::workers::{Claim, WorkersBuilder};
use crate::trace::timeline::{
    BlockingThread, ExhaustedPool, Handover, Known, MachineTime, Poll, PollKey, Task, TaskKey,
    WaitId, Worker,
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
}

#[derive(Debug, Default)]
struct Draft {
    location: Option<SpawnLocation>,
    parent: Option<u64>,
    spawned_ns: Option<u64>,
    /// The last spawn: a root future's number is used again.
    respawned_ns: Option<u64>,
    /// When it terminated, and on which thread.
    terminated: Option<(u64, u32)>,
    polls: Vec<Poll>,
    name: Option<NameId>,
    /// When it is known to have lived first, in ns, if it was spawned before: where events begin to be complete.
    /// And whether it had been polled.
    carried: Option<(u64, bool)>,
}

#[derive(Debug, Default)]
struct Thread {
    /// The window of its last event.
    window: usize,
    /// How it was where windows begin, by their indices.
    carried: VecDeque<(usize, Carried)>,
    /// The polls that it is in, the inner last.
    polls: Vec<(u64, Poll)>,
    /// Those of tasks that terminated before the left edge: Tokio calls the hook of a poll's end
    /// after that of its task's termination, which may even be on another thread.
    dead_polls: Vec<u64>,
    /// Where the task waits after the poll that ends next.
    wait: Option<WaitId>,
    worker: Option<(u32, WorkerState)>,
    claims: Vec<Claim>,
    /// How many of these are of windows before.
    claims_before: usize,
    /// When something last terminated outside of a poll: it may be the run loop of its worker.
    run_ended_ns: Option<u64>,
    started_ns: Option<u64>,
    stopped_ns: Option<u64>,
    /// Whether it has done anything since it started.
    is_used: bool,
    parks: BTreeMap<u32, u64>,
    readings: Option<Box<Readings>>,
    of_pool: OfPool,
}

/// A thread, as it was where a window begins.
#[derive(Debug)]
struct Carried {
    at_ns: u64,
    worker: Option<(u32, WorkerState)>,
    /// The tasks that it was polling, and whether they still lived.
    polls: Vec<(u64, bool)>,
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
        *terminated = (*terminated).max(Some((at_ns, u32::MAX)));
    }

    /// A thread, as it was at `at_ns`, where events begin to be complete, when it was `worker`; `polls` are the
    /// tasks it was polling, and whether they still lived. Later ones after earlier ones.
    pub(crate) fn carry_thread(
        &mut self,
        thread: u32,
        at_ns: u64,
        known: &Stream,
        worker: Option<u32>,
        polls: impl Iterator<Item = (u64, bool)>,
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
    /// ids; `locate` finds where one was spawned.
    pub(crate) fn finish(
        mut self,
        mut known: Vec<Known>,
        long_poll: Duration,
        names: &[Arc<str>],
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
        let causes = causes(&readings, &tasks, long_poll);
        let machine = machine(&readings);
        Built {
            tasks,
            quiet: known,
            workers,
            blocking_threads,
            handovers,
            causes,
            machine,
            exhausted_pool,
        }
    }
}

impl Thread {
    /// Goes on to the window of `time_ns`.
    fn enter_window(
        &mut self,
        number: u32,
        time_ns: u64,
        windows: &[(u64, u64)],
        tasks: &mut IdMap<Draft>,
    ) {
        while let Some(&(from, _)) = windows.get(self.window + 1) {
            if from > time_ns {
                break;
            }
            self.wait = None;
            // Recording stopped in between: a poll that was open then is known up to then.
            let stopped_ns = windows[self.window].1;
            for (id, poll) in self.polls.drain(..) {
                let poll = poll.cut_right(stopped_ns.max(poll.start_ns()));
                tasks.entry(id).or_default().polls.push(poll);
            }
            if let Some(readings) = &mut self.readings {
                readings.interrupt();
            }
            // In the gap it may have lost its worker.
            self.worker = None;
            self.claims_before = self.claims.len();
            self.window += 1;
            let window = self.window;
            if self.carried.front().is_some_and(|&(of, _)| of == window) {
                self.dead_polls.clear();
                if let Some((_, carried)) = self.carried.pop_front() {
                    self.carry(carried, number);
                }
            }
        }
    }

    /// Goes on as it was.
    fn carry(&mut self, carried: Carried, number: u32) {
        let at_ns = carried.at_ns;
        if let Some((worker, state)) = carried.worker {
            self.claim(at_ns, number, worker, state);
        }
        let worker = carried.worker.map(|(worker, _)| worker);
        for (id, lives) in carried.polls {
            if lives {
                self.polls.push((id, Poll::open(at_ns, number, worker).cut_left()));
            } else {
                self.dead_polls.push(id);
            }
        }
    }

    /// When its window begins.
    fn window_begin_ns(&self, windows: &[(u64, u64)]) -> u64 {
        windows.get(self.window).map_or(0, |window| window.0)
    }

    /// The poll that ends, which is `cut` if its start wasn't recorded; `None` of a task that had
    /// terminated before.
    fn end_poll(&mut self, task_id: u64, cut: Poll) -> Option<Poll> {
        if self.dead_polls.contains(&task_id) {
            self.dead_polls.retain(|&id| id != task_id);
            return None;
        }
        let open = self.polls.iter().rposition(|&(id, _)| id == task_id);
        Some(open.map_or(cut, |place| self.polls.remove(place).1))
    }

    /// A task terminated here.
    fn terminate_task(&mut self, time_ns: u64) {
        if self.polls.is_empty() {
            // It may be the run loop of a worker that goes on elsewhere: what this thread does next
            // as a worker is another claim.
            self.worker = None;
            self.run_ended_ns = Some(time_ns);
        }
    }

    /// The same as [`claim`](Self::claim), if it is a worker.
    fn claim_of(&mut self, time_ns: u64, thread: u32, worker: Option<u32>, state: WorkerState) {
        if let Some(worker) = worker {
            self.claim(time_ns, thread, worker, state);
        }
    }

    /// Notes that it is `worker`, in `state` from `time_ns` on.
    fn claim(&mut self, time_ns: u64, thread: u32, worker: u32, state: WorkerState) {
        if self.worker == Some((worker, state)) {
            return;
        }
        let mut claim = Claim { worker, time_ns, thread, state: WorkerState::Running };
        // A thread of the pool that did nothing before was started to be this worker.
        if let (Some(started_ns), false, true) =
            (self.started_ns, self.is_used, self.claims.is_empty())
        {
            claim.time_ns = started_ns;
            self.claims.push(claim);
        }
        let before = self.claims[self.claims_before..].last();
        if let Some(&before) = before.filter(|before| before.worker != worker) {
            // The pool gave the thread another worker's loop to run once that of this one ended, as
            // it does while a runtime shuts down that has just started.
            let time_ns = self.run_ended_ns.map_or(time_ns, |ended| ended.max(before.time_ns));
            self.claims.push(Claim { time_ns, state: WorkerState::Stopped, ..before });
        }
        self.worker = Some((worker, state));
        self.claims.push(Claim { time_ns, state, ..claim });
    }
}

impl Draft {
    /// It was spawned.
    fn spawn(&mut self, time_ns: u64, location: Option<SpawnLocation>, parent: Option<u64>) {
        // A root future's number is used again: its row goes on.
        self.spawned_ns = Some(self.spawned_ns.unwrap_or(time_ns).min(time_ns));
        if self.respawned_ns.is_none_or(|last| last <= time_ns) {
            self.respawned_ns = Some(time_ns);
            (self.location, self.parent) = (location, parent);
        }
    }

    /// Adds what is known of the same task from other threads.
    fn add(&mut self, mut later: Self) {
        if later.respawned_ns.is_some() && later.respawned_ns >= self.respawned_ns {
            (self.location, self.parent) = (later.location, later.parent);
        } else if later.respawned_ns.is_none() {
            self.location = later.location.or(self.location);
            self.parent = later.parent.or(self.parent);
        }
        self.spawned_ns = [self.spawned_ns, later.spawned_ns].into_iter().flatten().min();
        self.respawned_ns = self.respawned_ns.max(later.respawned_ns);
        self.terminated = self.terminated.max(later.terminated);
        self.carried = earliest(self.carried, later.carried);
        self.name = self.name.or(later.name);
        match self.polls.is_empty() {
            true => self.polls = later.polls,
            false => self.polls.append(&mut later.polls),
        }
    }

    /// Whether it is a task: closures of `spawn_blocking` and the run loops of workers terminate without
    /// ever having been spawned or polled.
    fn is_task(&self) -> bool {
        self.spawned_ns.is_some() || !self.polls.is_empty() || self.carried.is_some()
    }

    /// The task; `None` if it was none.
    fn finish(mut self, id: u64, begin_ns: u64, names: &[Arc<str>]) -> Option<Task> {
        if !self.is_task() {
            return None;
        }
        if is_root(id) {
            self.terminated = self.terminated.filter(|&(at, _)| Some(at) >= self.respawned_ns);
        }
        order(&mut self.polls);
        if let (Some((at, thread)), Some(last)) = (self.terminated, self.polls.last_mut()) {
            // It isn't dropped elsewhere before its poll is over; and where it ended in its poll, that is
            // over, too, though its end may not have been recorded.
            let is_over = match last.end_ns() {
                Some(end) => last.thread() != thread && end > at,
                None => true,
            };
            if is_over {
                *last = last.ended(at.max(last.start_ns()));
            }
        }
        let first_poll = self.polls.first().copied();
        // Two threads' clocks may differ by some ns.
        let spawned_ns = self
            .spawned_ns
            .map(|spawned| first_poll.map_or(spawned, |poll| spawned.min(poll.start_ns())));
        let is_after = |at: u64| first_poll.is_none_or(|poll| poll.start_ns() >= at);
        let carried = self.carried.filter(|&(at, _)| is_after(at));
        let ran_at = |at| first_poll.is_some_and(|p| p.is_cut_left() && p.start_ns() <= at);
        let (first_ns, first_state) = match (spawned_ns, carried, first_poll) {
            (Some(spawned), ..) => (spawned, TaskState::Spawned),
            (_, Some((at, _)), _) if ran_at(at) => (at, TaskState::Running),
            (_, Some((at, true)), _) => (at, TaskState::Waiting),
            (_, Some((at, false)), _) => (at, TaskState::Spawned),
            (.., Some(poll)) => match poll.ready_ns() {
                Some(ready) if ready < poll.start_ns() => (ready.max(begin_ns), TaskState::Ready),
                _ => (poll.start_ns(), TaskState::Running),
            },
            (None, None, None) => return None,
        };
        let mut before = first_ns;
        for poll in &mut self.polls {
            *poll = poll.not_before(before);
            before = poll.end_ns().unwrap_or(poll.start_ns());
        }
        Some(Task {
            key: TaskKey::from_id(id),
            location: self.location,
            parent: self.parent.map(TaskKey::from_id),
            spawned_ns,
            first_ns,
            first_state,
            terminated_ns: self.terminated.map(|(at, _)| at.max(first_ns)),
            polls: self.polls,
            name: self.name.and_then(|name| names.get(name as usize).cloned()),
            carried_wait: None,
            ready_ns: None,
        })
    }
}

/// The earlier of two times at which a task was seen.
fn earliest(one: Option<(u64, bool)>, other: Option<(u64, bool)>) -> Option<(u64, bool)> {
    [one, other].into_iter().flatten().min()
}

/// Two threads' clocks may differ by as much, in ns.
const CLOCKS_DIFFER_NS: u64 = 1_000;

/// Puts polls from different threads in order, and ends those that were over when the next one began.
///
/// A task can be polled elsewhere before the hook of its poll's end is called, if it is woken by then
/// and the thread is off-CPU in between. That poll was over when the task was queued, which is when
/// it became ready for the next one.
///
/// One that still runs is the last, even if the clock of its thread is behind by as much as clocks
/// differ.
fn order(polls: &mut [Poll]) {
    let key = |poll: &Poll| {
        let open_ns = if poll.end_ns().is_none() { CLOCKS_DIFFER_NS } else { 0 };
        (poll.start_ns().saturating_add(open_ns), poll.end_ns().is_none(), poll.end_ns())
    };
    if !polls.is_sorted_by_key(key) {
        polls.sort_by_key(key);
    }
    for i in 1..polls.len() {
        let (poll, next) = (polls[i - 1], polls[i]);
        let is_over = poll.end_ns().is_none_or(|end| end > next.start_ns());
        if is_over && poll.start_ns() <= next.start_ns() {
            let ready_ns = next.ready_ns().unwrap_or(next.start_ns());
            polls[i - 1] = poll.ended(ready_ns.clamp(poll.start_ns(), next.start_ns()));
        }
    }
}

fn is_root(id: u64) -> bool {
    matches!(TaskKey::from_id(id), TaskKey::Root(_))
}
