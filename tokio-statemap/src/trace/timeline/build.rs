//! Events → spans: the events of each thread in their order, the threads one after the other.
//!
//! A poll begins and ends on one thread, so that no event of another thread is needed to know it,
//! and what one thread saw is in order whatever the clocks of the others said. Only then are a
//! task's polls on different threads put in order, and those ended that were over when the task was
//! seen elsewhere.

use std::collections::BTreeMap;

use crate::recorder::id_map::IdMap;
use crate::recorder::live_tasks::Stream;
use crate::trace::event::{Event, SpawnLocation};
use crate::trace::state::{TaskState, WorkerState};
use crate::trace::timeline::workers::{Claim, WorkersBuilder};
use crate::trace::timeline::{BlockingThread, Handover, Known, Poll, Task, TaskKey, Worker};

/// What is known of tasks and threads so far.
#[derive(Debug)]
pub(crate) struct Builder {
    /// The windows of recording, from and to in ns.
    windows: Vec<(u64, u64)>,
    begin_ns: u64,
    tasks: IdMap<Draft>,
    threads: BTreeMap<u32, Thread>,
}

/// What comes out.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) tasks: Vec<Task>,
    /// The tasks that were known and of which nothing else was told, by their ids.
    pub(crate) quiet: Vec<Known>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) blocking_threads: Vec<BlockingThread>,
    pub(crate) handovers: Vec<Handover>,
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
    /// Whether it lived at the left edge, and if so whether it had been polled.
    carried: Option<bool>,
}

#[derive(Debug, Default)]
struct Thread {
    /// The window of its last event.
    window: usize,
    /// The polls that it is in, the inner last.
    polls: Vec<(u64, Poll)>,
    /// Those of tasks that terminated before the left edge: Tokio tells the end of a poll after
    /// that of its task, which may even have ended elsewhere meanwhile.
    dead_polls: Vec<u64>,
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
}

impl Builder {
    pub(crate) fn new(windows: Vec<(u64, u64)>, begin_ns: u64) -> Self {
        Self { windows, begin_ns, tasks: IdMap::default(), threads: BTreeMap::new() }
    }

    /// A task lived at the left edge.
    pub(crate) fn carry_task(&mut self, id: u64, polled: bool) {
        self.tasks.entry(id).or_default().carried = Some(polled);
    }

    /// A thread, as it was at the left edge, when it was `worker`; `polls` are the tasks it was polling, and
    /// whether they still lived.
    pub(crate) fn carry_thread(
        &mut self,
        thread: u32,
        known: &Stream,
        worker: Option<u32>,
        polls: impl Iterator<Item = (u64, bool)>,
    ) {
        let begin_ns = self.begin_ns;
        let state = self.threads.entry(thread).or_default();
        state.is_used = true;
        state.window = self.windows.partition_point(|w| w.0 <= begin_ns).saturating_sub(1);
        if let Some(worker) = worker {
            let now = match (known.stopped, known.parked) {
                (true, _) => WorkerState::Stopped,
                (_, Some(true)) => WorkerState::Parked,
                _ => WorkerState::Running,
            };
            state.claim(begin_ns, thread, worker, now);
        }
        for (id, lives) in polls {
            if !lives {
                state.dead_polls.push(id);
                continue;
            }
            let poll = Poll::open(begin_ns, thread, worker).cut_left();
            state.polls.push((id, poll));
        }
    }

    /// What is known of a task, if there is such a task, whose spawn is not among the events.
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
        while let Some(&(from, _)) = self.windows.get(thread.window + 1) {
            if from > time_ns {
                break;
            }
            // Recording stopped in between: what it was polling then, it was polling until then.
            let stopped_ns = self.windows[thread.window].1;
            for (id, poll) in thread.polls.drain(..) {
                let poll = poll.cut_right(stopped_ns.max(poll.start_ns()));
                self.tasks.entry(id).or_default().polls.push(poll);
            }
            // Nobody saw what became of its worker.
            thread.worker = None;
            thread.claims_before = thread.claims.len();
            thread.window += 1;
        }
        match *event {
            Event::TaskSpawn { task_id, location, .. } => {
                let parent = thread.polls.last().map(|&(id, _)| id);
                let draft = self.tasks.entry(task_id).or_default();
                // A root future's number is used again: its row goes on.
                draft.spawned_ns = Some(draft.spawned_ns.unwrap_or(time_ns).min(time_ns));
                if draft.respawned_ns.is_none_or(|last| last <= time_ns) {
                    draft.respawned_ns = Some(time_ns);
                    (draft.location, draft.parent) = (location, parent);
                }
            }
            Event::TaskPollStart { task_id, worker, ready_ns, .. } => {
                if let Some(worker) = worker {
                    thread.claim(time_ns, number, worker, WorkerState::Running);
                }
                let poll = Poll::open(time_ns, number, worker).ready(ready_ns);
                thread.polls.push((task_id, poll));
            }
            Event::TaskPollEnd { task_id, .. } if thread.dead_polls.contains(&task_id) => {
                thread.dead_polls.retain(|&id| id != task_id);
            }
            Event::TaskPollEnd { task_id, worker, .. } => {
                let open = thread.polls.iter().rposition(|&(id, _)| id == task_id);
                let poll = open.map(|place| thread.polls.remove(place).1);
                let poll = poll.unwrap_or_else(|| {
                    let from = self.windows.get(thread.window).map_or(0, |window| window.0);
                    let from = from.max(self.begin_ns).min(time_ns);
                    Poll::open(from, number, worker).cut_left()
                });
                self.tasks.entry(task_id).or_default().polls.push(poll.ended(time_ns));
            }
            Event::TaskTerminate { task_id, .. } => {
                if thread.polls.is_empty() {
                    // It may be the run loop of a worker that goes on elsewhere: whatever this
                    // thread does next as a worker, it is one anew.
                    thread.worker = None;
                    thread.run_ended_ns = Some(time_ns);
                }
                let terminated = &mut self.tasks.entry(task_id).or_default().terminated;
                *terminated = (*terminated).max(Some((time_ns, number)));
            }
            Event::WorkerStart { worker, .. } => {
                thread.started_ns = Some(time_ns);
                if let Some(worker) = worker {
                    thread.claim(time_ns, number, worker, WorkerState::Running);
                }
                return; // it has done nothing yet
            }
            Event::WorkerStop { worker, .. } => {
                thread.stopped_ns = Some(time_ns);
                if let Some(worker) = worker {
                    thread.claim(time_ns, number, worker, WorkerState::Stopped);
                }
            }
            Event::WorkerPark { worker, .. } => {
                if let Some(worker) = worker {
                    *thread.parks.entry(worker).or_default() += 1;
                    thread.claim(time_ns, number, worker, WorkerState::Parked);
                }
            }
            Event::WorkerUnpark { worker, .. } => {
                if let Some(worker) = worker {
                    thread.claim(time_ns, number, worker, WorkerState::Running);
                }
            }
        }
        thread.is_used = true;
    }

    /// What both were told, as if `later`, which is of other threads, had been told to this one then.
    pub(crate) fn and(mut self, later: Self) -> Self {
        // Both maps have their entries in the same order: to fill a small one in that order is slow.
        self.tasks.reserve(later.tasks.len().saturating_sub(self.tasks.len()));
        for (id, draft) in later.tasks {
            self.tasks.entry(id).or_default().add(draft);
        }
        self.threads.extend(later.threads);
        self
    }

    /// All that was told, in order. `known` are tasks from before the left edge, by their ids, that
    /// weren't told of yet, and `locate` says where one was spawned.
    pub(crate) fn finish(
        mut self,
        mut known: Vec<Known>,
        locate: impl Fn(&Known) -> Option<SpawnLocation>,
    ) -> Built {
        let last_window = self.windows.len().saturating_sub(1);
        let mut workers = WorkersBuilder::default();
        let mut blocking_threads = Vec::new();
        for (number, mut thread) in self.threads {
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
        let begin_ns = self.begin_ns;
        let drafts = self.tasks.into_iter().map(|(id, draft)| {
            let Ok(place) = known.binary_search_by_key(&id, |known| known.id) else {
                return (id, draft);
            };
            let known = &mut known[place];
            let carried = known.lives.then_some(known.polled);
            // It isn't quiet.
            known.lives = false;
            let (location, parent) = (locate(known), known.parent_id());
            let mut before = Draft { location, parent, carried, ..Draft::default() };
            before.add(draft);
            (id, before)
        });
        let mut tasks: Vec<_> = drafts.filter_map(|(id, d)| d.finish(id, begin_ns)).collect();
        tasks.sort_unstable_by_key(|task| task.key);
        let (workers, handovers) = workers.finish(&tasks);
        known.retain(|known| known.lives);
        Built { tasks, quiet: known, workers, blocking_threads, handovers }
    }
}

impl Thread {
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
        self.carried = self.carried.or(later.carried);
        match self.polls.is_empty() {
            true => self.polls = later.polls,
            false => self.polls.append(&mut later.polls),
        }
    }

    /// The task; `None` if it was none: closures of `spawn_blocking` and the run loops of workers
    /// terminate without ever having been spawned or polled.
    fn finish(mut self, id: u64, begin_ns: u64) -> Option<Task> {
        if self.spawned_ns.is_none() && self.polls.is_empty() && self.carried.is_none() {
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
        let ran_at_begin = first_poll.filter(|p| p.is_cut_left() && p.start_ns() <= begin_ns);
        let (first_ns, first_state) = match (spawned_ns, self.carried, first_poll) {
            (Some(spawned), ..) => (spawned, TaskState::Spawned),
            (_, Some(_), _) if ran_at_begin.is_some() => (begin_ns, TaskState::Running),
            (_, Some(true), _) => (begin_ns, TaskState::Waiting),
            (_, Some(false), _) => (begin_ns, TaskState::Spawned),
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
            ready_ns: None,
        })
    }
}

/// Two threads' clocks may differ by as much, in ns.
const CLOCKS_DIFFER_NS: u64 = 1_000;

/// Puts polls from different threads in order, and ends those that were over when the next one began.
///
/// A task can be polled elsewhere before the hook is called that tells the end of its poll, if it is
/// woken by then and the system takes the processor from that thread in between. That poll was over
/// when the task was queued, which is when it was ready for the next one.
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
