//! For any program and any accuracy of its clocks, the data passes the strict checker, the reader agrees with the
//! checker, and the same events yield the same bytes.

mod waits;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;
use tests::cases::cases;
use tests::check::{Summary, check};
use tokio_statemap::statemap::read::read;
use tokio_statemap::{
    Collector, CollectorConfig, Event, SpawnLocation, StatemapData, register_hooks,
};

/// The first threads are workers; one more isn't.
const WORKERS: u32 = 3;
const THREADS: u32 = WORKERS + 1;

/// The value of the state of a task that is polled.
const RUNNING: usize = 1;

/// The largest difference of two clocks before rounding, in ns.
const CLOCKS_DIFFER_NS: u64 = 1_050;

#[derive(Clone, Copy, Debug)]
enum Action {
    Start,
    Stop,
    Park,
    Unpark,
    Spawn {
        has_location: bool,
    },
    Poll {
        task: Index,
        ready_for_ns: Option<u64>,
    },
    PollRoot,
    /// The worker moves to another thread, as with `block_in_place`.
    Handover,
    EndPoll,
    /// The polled task yields. It may be polled or dropped on another thread before the end of this poll is recorded.
    Yield,
    Terminate,
    Abort {
        task: Index,
    },
    /// The end of a closure on the blocking pool, which is no task.
    Phantom,
}

/// A thread, the ns before its action, and the action.
type Step = (u32, u64, Action);

fn action() -> impl Strategy<Value = Action> {
    let ready = proptest::option::of(1..5_000_u64);
    prop_oneof![
        1 => Just(Action::Start),
        1 => Just(Action::Stop),
        3 => Just(Action::Park),
        3 => Just(Action::Unpark),
        4 => any::<bool>().prop_map(|has_location| Action::Spawn { has_location }),
        8 => (any::<Index>(), ready).prop_map(|(task, ready_for_ns)| Action::Poll { task, ready_for_ns }),
        2 => Just(Action::PollRoot),
        1 => Just(Action::Handover),
        8 => Just(Action::EndPoll),
        3 => Just(Action::Yield),
        2 => Just(Action::Terminate),
        1 => any::<Index>().prop_map(|task| Action::Abort { task }),
        1 => Just(Action::Phantom),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let pause = prop_oneof![Just(0), 0..20_u64, 0..3_000_u64, 0..5_000_000_000_u64];
    proptest::collection::vec((0..THREADS, pause, action()), 0..250)
}

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    worker: Option<u32>,
    polls: Option<u64>,
    has_yielded: bool,
    /// `true` if another thread has polled or dropped the task since it yielded.
    is_passed: bool,
    is_parked: bool,
    poll_start_ns: u64,
    /// The worker on which its poll started.
    poll_worker: Option<u32>,
}

impl Thread {
    /// Ends the current poll, if there is one.
    fn end_poll(&mut self) -> Option<u64> {
        (self.has_yielded, self.is_passed) = (false, false);
        self.polls.take()
    }
}

#[derive(Clone, Copy, Debug)]
struct Task {
    id: u64,
    is_polled: bool,
}

/// The expected states of a task.
#[derive(Clone, Debug, Default, PartialEq)]
struct Life {
    states: Vec<&'static str>,
    polls: usize,
    running_ns: u64,
    /// The number of polls that end where the next one starts.
    passed: u64,
}

/// A simulated runtime that follows a script, except for steps that no runtime would take.
struct Program {
    resolution_ns: u64,
    skew_ns: Vec<u64>,
    now_ns: u64,
    last_id: u64,
    threads: Vec<Thread>,
    live: Vec<Task>,
    is_root_polled: bool,
    events: Vec<Event>,
    /// The lives of the real tasks.
    lives: BTreeMap<u64, Life>,
}

impl Program {
    fn run(steps: &[Step], resolution_ns: u64, skew_ns: &[u64]) -> Self {
        let worker = |i| (i < WORKERS).then_some(i);
        let thread = |i| Thread { worker: worker(i), ..Thread::default() };
        let mut program = Self {
            resolution_ns,
            skew_ns: skew_ns.to_vec(),
            now_ns: 0,
            last_id: 0,
            threads: (0..THREADS).map(thread).collect(),
            live: Vec::new(),
            is_root_polled: false,
            events: Vec::new(),
            lives: BTreeMap::new(),
        };
        for &(thread, pause_ns, action) in steps {
            program.now_ns += pause_ns;
            program.step(thread, action);
        }
        // A drain returns events by time, and those of a thread in their order.
        program.events.sort_by_key(Event::time_ns);
        program
    }

    fn time_ns(&self, thread: u32) -> u64 {
        (self.now_ns + self.skew_ns[thread as usize]) / self.resolution_ns * self.resolution_ns
    }

    fn id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn step(&mut self, thread: u32, action: Action) {
        let time_ns = self.time_ns(thread);
        let at = thread as usize;
        let Thread { worker, polls, has_yielded, is_passed, is_parked, .. } = self.threads[at];
        let Thread { poll_worker, poll_start_ns, .. } = self.threads[at];
        let is_free = polls.is_none() && !is_parked;
        match action {
            Action::Start if is_free => {
                self.events.push(Event::WorkerStart { time_ns, thread, worker })
            }
            Action::Stop if is_free => {
                self.events.push(Event::WorkerStop { time_ns, thread, worker })
            }
            Action::Park if is_free && worker.is_some() => {
                self.threads[at].is_parked = true;
                self.events.push(Event::WorkerPark { time_ns, thread, worker });
            }
            Action::Unpark if polls.is_none() && worker.is_some() => {
                self.threads[at].is_parked = false;
                self.events.push(Event::WorkerUnpark { time_ns, thread, worker });
            }
            Action::Spawn { has_location } if !is_parked => {
                let task_id = self.id();
                let location = has_location.then_some(SpawnLocation {
                    file: ["src/main.rs", "a\\b \"c\".rs"][(task_id % 2) as usize],
                    line: 1 + (task_id % 5) as u32,
                    column: 7,
                });
                self.live.push(Task { id: task_id, is_polled: false });
                self.comes_into(task_id, "spawned");
                self.events.push(Event::TaskSpawn { task_id, time_ns, thread, location });
            }
            Action::Poll { task, ready_for_ns } if is_free && worker.is_some() => {
                let mut idle: Vec<_> =
                    self.live.iter_mut().filter(|task| !task.is_polled).collect();
                if idle.is_empty() {
                    return;
                }
                let count = idle.len();
                let task = &mut idle[task.index(count)];
                task.is_polled = true;
                let task_id = task.id;
                self.start_poll(thread, task_id, ready_for_ns.map(|ns| time_ns.saturating_sub(ns)));
            }
            Action::PollRoot if is_free && !self.is_root_polled => {
                self.is_root_polled = true;
                self.start_poll(thread, Event::ROOT, None);
            }
            Action::Handover if polls.is_some() && worker.is_some() => {
                let other = self.threads.iter().position(|t| t.worker.is_none());
                let Some(other) = other.filter(|&other| self.threads[other].polls.is_none()) else {
                    return;
                };
                self.threads[other].worker = self.threads[at].worker.take();
                let (thread, worker) = (other as u32, self.threads[other].worker);
                let time_ns = self.time_ns(thread);
                self.events.push(Event::WorkerUnpark { time_ns, thread, worker });
            }
            Action::Yield if polls.is_some_and(|id| id != Event::ROOT) && !has_yielded => {
                // Within this time it is unknown which of two polls is the later one, while one still runs.
                self.now_ns += CLOCKS_DIFFER_NS + self.resolution_ns;
                self.threads[at].has_yielded = true;
                for task in &mut self.live {
                    task.is_polled &= Some(task.id) != polls;
                }
            }
            Action::EndPoll if is_passed => {
                let Some(task_id) = self.threads[at].end_poll() else { return };
                let worker = poll_worker;
                self.events.push(Event::TaskPollEnd { task_id, time_ns, thread, worker });
            }
            Action::Terminate if has_yielded => {}
            Action::EndPoll | Action::Terminate => {
                let Some(task_id) = self.threads[at].end_poll() else { return };
                let is_over = matches!(action, Action::Terminate);
                if task_id == Event::ROOT {
                    self.is_root_polled = false;
                } else if is_over {
                    self.live.retain(|task| task.id != task_id);
                    self.events.push(Event::TaskTerminate { task_id, time_ns, thread });
                }
                let is_completed = is_over && task_id != Event::ROOT;
                self.comes_into(task_id, if is_completed { "completed" } else { "waiting" });
                let life = self.lives.entry(task_id).or_default();
                life.running_ns += time_ns - poll_start_ns;
                for task in &mut self.live {
                    task.is_polled &= task.id != task_id;
                }
                let worker = poll_worker;
                self.events.push(Event::TaskPollEnd { task_id, time_ns, thread, worker });
            }
            Action::Abort { task } if !is_parked => {
                let is_idle = |task: &&Task| !task.is_polled && polls != Some(task.id);
                let idle: Vec<_> = self.live.iter().filter(is_idle).collect();
                if idle.is_empty() {
                    return;
                }
                let task_id = idle[task.index(idle.len())].id;
                self.pass(task_id, time_ns);
                self.comes_into(task_id, "completed");
                self.live.retain(|task| task.id != task_id);
                self.events.push(Event::TaskTerminate { task_id, time_ns, thread });
            }
            Action::Phantom => {
                let task_id = self.id();
                self.events.push(Event::TaskTerminate { task_id, time_ns, thread });
            }
            _ => {}
        }
    }

    fn comes_into(&mut self, task_id: u64, state: &'static str) {
        let states = &mut self.lives.entry(task_id).or_default().states;
        // A task is ready when it is spawned.
        if state != "ready" || states.last() != Some(&"spawned") {
            states.push(state);
        }
    }

    /// Ends the poll in which the task yielded at `end_ns`, if its end isn't recorded yet. Returns whether there is one.
    fn pass(&mut self, task_id: u64, end_ns: u64) -> bool {
        let is_in = |other: &&mut Thread| other.polls == Some(task_id) && !other.is_passed;
        let Some(thread) = self.threads.iter_mut().find(is_in) else { return false };
        thread.is_passed = true;
        let life = self.lives.entry(task_id).or_default();
        life.running_ns += end_ns.saturating_sub(thread.poll_start_ns);
        life.passed += 1;
        true
    }

    fn start_poll(&mut self, thread: u32, task_id: u64, ready_ns: Option<u64>) {
        let time_ns = self.time_ns(thread);
        if self.pass(task_id, ready_ns.unwrap_or(time_ns)) {
            self.comes_into(task_id, "waiting");
        }
        let state = &mut self.threads[thread as usize];
        (state.polls, state.poll_worker) = (Some(task_id), state.worker);
        state.poll_start_ns = time_ns;
        let worker = state.worker;
        self.lives.entry(task_id).or_default().polls += 1;
        if ready_ns.is_some() {
            self.comes_into(task_id, "ready");
        }
        self.comes_into(task_id, "running");
        self.events.push(Event::TaskPollStart {
            task_id,
            time_ns,
            thread,
            worker,
            ready_ns,
            woken_by: None,
        });
    }
}

fn collector(schedule_latency: bool) -> Arc<Collector> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let config = CollectorConfig { schedule_latency, ..CollectorConfig::default() };
    register_hooks(&mut builder, config).unwrap()
}

/// Checks both files, and that the reader agrees with the checker.
fn check_data(data: &StatemapData) -> (Summary, Summary) {
    let checked = |bytes: Vec<u8>| {
        let summary = check(&bytes).unwrap_or_else(|problem| panic!("{problem}"));
        agree(&summary, &bytes);
        summary
    };
    (checked(data.tasks_to_bytes().unwrap()), checked(data.workers_to_bytes().unwrap()))
}

fn agree(summary: &Summary, bytes: &[u8]) {
    let statemap = read(bytes).unwrap();
    let metadata = &statemap.metadata;
    assert_eq!(metadata.title, summary.title);
    assert_eq!((metadata.start[0], metadata.start[1]), summary.start);
    assert_eq!(metadata.host, summary.host);
    assert_eq!(metadata.entity_kind.as_ref(), Some(&summary.entity_kind));
    let states: Vec<_> = metadata.states.iter().map(|state| state.name.clone()).collect();
    assert_eq!(states, summary.states);
    assert!(statemap.tags.iter().all(|tag| tag.is_defined));
    for tag in &statemap.tags {
        // The checker compares the tags of places with their functions.
        let (place, location): (Vec<_>, Vec<_>) =
            tag.fields.iter().cloned().partition(|(key, _)| key.starts_with("wait"));
        if !place.is_empty() {
            let keys: Vec<_> = place.iter().map(|(key, _)| key.as_str()).collect();
            assert_eq!(keys, ["wait", "waitsAt"]);
            continue;
        }
        let (rest, column) = tag.tag.rsplit_once(':').unwrap();
        let (file, line) = rest.rsplit_once(':').unwrap();
        let members = [("file", file.to_owned()), ("location", format!("{line}:{column}"))];
        let members = members.map(|(key, value)| (key.to_owned(), Value::from(value).to_string()));
        assert_eq!(location, members);
    }
    let tags: Vec<_> =
        statemap.tags.iter().map(|tag| (tag.state as usize, tag.tag.clone())).collect();
    assert_eq!(tags, summary.tags);
    assert_eq!(statemap.end_ns, summary.end_ns);
    assert_eq!(statemap.entities.len(), summary.entities.len());
    for entity in &statemap.entities {
        let read = entity.data.iter().map(|datum| {
            let tag = datum.tag.map(|tag| &statemap.tags[tag].tag);
            (datum.time_ns, datum.state as usize, tag)
        });
        let checked = summary.entities[&entity.name].iter();
        assert!(read.eq(checked.map(|t| (t.time_ns, t.state, t.tag.as_ref()))), "{}", entity.name);
    }
}

fn name(task_id: u64) -> String {
    match task_id {
        Event::ROOT => "main".to_owned(),
        id => format!("task-{id}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_data_of_any_program_is_valid(
        steps in steps(),
        is_coarse in any::<bool>(),
        skew_ns in proptest::collection::vec(0..50_u64, THREADS as usize),
        schedule_latency in any::<bool>(),
        cut in proptest::option::of((any::<Index>(), any::<Index>())),
    ) {
        let program = Program::run(&steps, if is_coarse { 1_000 } else { 1 }, &skew_ns);
        let collector = collector(schedule_latency);
        let mut events = &program.events[..];
        if let Some((from, to)) = cut {
            events = &events[from.index(events.len() + 1)..];
            events = &events[..to.index(events.len() + 1)];
        }

        let data = collector.events_to_data(events);
        let (tasks, workers) = check_data(&data);
        let again = collector.events_to_data(events);
        prop_assert_eq!(data.tasks_to_bytes().unwrap(), again.tasks_to_bytes().unwrap());
        prop_assert_eq!(data.workers_to_bytes().unwrap(), again.workers_to_bytes().unwrap());

        prop_assert_eq!(tasks.start, workers.start);
        prop_assert_eq!(tasks.states.len(), if schedule_latency { 5 } else { 4 });
        if cut.is_none() {
            let names: BTreeSet<_> = program.lives.keys().map(|&id| name(id)).collect();
            prop_assert_eq!(tasks.entities.keys().cloned().collect::<BTreeSet<_>>(), names);
            for (&id, life) in &program.lives {
                let name = name(id);
                prop_assert_eq!(tasks.entries(&name, "running"), life.polls, "{}", name);
                // Two polls that are closer than the difference of two clocks may swap, and the first poll of a task has no
                // `ready`.
                let has_ready = schedule_latency && skew_ns.iter().all(|&ns| ns == skew_ns[0]);
                let is_known = |state: &&str| has_ready || *state != "ready";
                let seen = changes(tasks.states_of(&name).into_iter().filter(is_known));
                let done = changes(life.states.iter().copied().filter(is_known));
                // If a task is aborted when a poll ends, it may also have terminated in the poll.
                let is_close = |states: Vec<_>| states.join(" ").replace("waiting completed", "completed");
                prop_assert_eq!(is_close(seen), is_close(done), "{}", name);
            }
        }
    }

    #[test]
    fn with_a_perfect_clock_running_times_are_exact(steps in steps()) {
        // With 1 000 ns between any two events nothing has to be shifted.
        let apart: Vec<Step> = steps.iter().map(|&(thread, ns, action)| (thread, ns + 1_000, action)).collect();
        let program = Program::run(&apart, 1, &[0; THREADS as usize]);
        let (tasks, _) = check_data(&collector(true).events_to_data(&program.events));
        let begin_ns = program.events.first().map_or(0, Event::time_ns);
        for (&id, life) in &program.lives {
            let row = &tasks.entities[&name(id)];
            let ends = row.iter().skip(1).map(|next| next.time_ns).chain([tasks.end_ns]);
            let spans = row.iter().zip(ends).filter(|(start, _)| start.state == RUNNING);
            let running_ns: u64 = spans.map(|(start, end_ns)| end_ns - start.time_ns).sum();
            // A poll that is still running continues until the end of the data.
            let is_open = |thread: &&Thread| thread.polls == Some(id) && !thread.is_passed;
            let open = program.threads.iter().filter(is_open);
            let open_ns: u64 = open.map(|thread| tasks.end_ns - (thread.poll_start_ns - begin_ns)).sum();
            // Of transitions at the same time, waiting, ready and running, the later ones are shifted.
            let pushed_ns = (life.running_ns + open_ns).abs_diff(running_ns);
            prop_assert!(pushed_ns <= 2 * life.passed, "{}: {pushed_ns} ns", name(id));
            let states = life.states.iter().copied();
            prop_assert_eq!(changes(tasks.states_of(&name(id))), changes(states), "{}", name(id));
        }
    }
}

/// Removes repetitions of states.
fn changes<'a>(states: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut changes: Vec<_> = states.into_iter().collect();
    changes.dedup();
    changes
}

#[test]
fn the_data_of_no_events_is_valid() {
    let (tasks, workers) = check_data(&collector(true).events_to_data(&[]));
    assert!(tasks.entities.is_empty() && workers.entities.is_empty());
}
