//! Tests of critical paths: random programs against a model that goes forward, and what is not known.

use super::*;
use crate::symbols::{FrameOrigin, StackFrame};
use crate::trace::event::SpawnLocation;
use crate::trace::state::TaskState;
use crate::trace::timeline::{AwaitFrame, Wait};
use crate::util::random::Random;

/// Sums of time by state, in ns, and the tasks that they are of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Way {
    ns: [u64; 3],
    tasks: Vec<TaskKey>,
}

impl Way {
    fn add(&mut self, task: TaskKey, state: PathState, ns: u64) {
        self.ns[state as usize] += ns;
        if ns > 0 && !self.tasks.contains(&task) {
            self.tasks.push(task);
        }
    }
}

/// A program whose tasks run, sleep, spawn others, and join them one after the other. Times are multiples of 10 µs.
struct Program {
    random: Random,
    tasks: Vec<Task>,
    most: usize,
}

/// A task while the program is made: the way to where it is.
struct Now {
    key: TaskKey,
    at_ns: u64,
    poll: Poll,
    polls: Vec<Poll>,
    way: Way,
}

fn task(key: TaskKey, spawned_ns: u64, parent: Option<TaskKey>, polls: Vec<Poll>) -> Task {
    let location = Some(SpawnLocation { file: "src/batch.rs", line: 3, column: 9 });
    let terminated_ns = polls.last().and_then(Poll::end_ns);
    Task { location, parent, terminated_ns, ..Task::planted(key, spawned_ns, polls) }
}

impl Program {
    fn some_ns(&mut self) -> u64 {
        (self.random.below(50) + 1) * 10_000
    }

    /// Polls the task after it was woken at `ready_ns`. It may be late.
    fn wake(&mut self, now: &mut Now, ready_ns: u64, by: Option<WokenBy>) {
        let late_ns = if self.random.once_in(2) { 0 } else { self.some_ns() };
        now.way.add(now.key, PathState::Ready, late_ns);
        now.at_ns = ready_ns + late_ns;
        now.poll = Poll::open(now.at_ns, 1, Some(0)).ready(Some(ready_ns)).by(by);
    }

    fn run(&mut self, now: &mut Now) {
        let ns = self.some_ns();
        now.at_ns += ns;
        now.way.add(now.key, PathState::Running, ns);
    }

    /// Runs a task from its spawn to its end. Returns its end, and the way to it.
    fn task(
        &mut self,
        key: TaskKey,
        spawned_ns: u64,
        parent: Option<TaskKey>,
        way: Way,
    ) -> (u64, Way) {
        let index = self.tasks.len();
        self.tasks.push(task(key, spawned_ns, parent, Vec::new()));
        let mut now = Now { key, at_ns: 0, poll: Poll::open(0, 1, None), polls: Vec::new(), way };
        self.wake(&mut now, spawned_ns, parent.map(WokenBy::Task));
        self.run(&mut now);
        let mut children = Vec::new();
        for _ in 0..self.random.below(8) {
            match self.random.below(3) {
                0 => {
                    now.polls.push(now.poll.ended(now.at_ns));
                    let ns = self.some_ns();
                    now.way.add(key, PathState::Waiting, ns);
                    let ready_ns = now.at_ns + ns;
                    self.wake(&mut now, ready_ns, Some(WokenBy::Runtime));
                }
                1 if self.tasks.len() < self.most => {
                    let id = TaskKey::Spawned(self.tasks.len() as u64);
                    let (end_ns, way) = self.task(id, now.at_ns, Some(key), now.way.clone());
                    children.push((id, end_ns, way));
                }
                _ => {
                    if let Some((id, end_ns, way)) = children.pop().filter(|of| of.1 > now.at_ns) {
                        now.polls.push(now.poll.ended(now.at_ns));
                        now.way = way;
                        self.wake(&mut now, end_ns, Some(WokenBy::Task(id)));
                    }
                }
            }
            self.run(&mut now);
        }
        now.polls.push(now.poll.ended(now.at_ns));
        self.tasks[index] = task(key, spawned_ns, parent, now.polls);
        (now.at_ns, now.way)
    }
}

fn timeline(mut tasks: Vec<Task>) -> Timeline {
    crate::util::sort::by_key(&mut tasks, |task| task.key);
    let mut end_ns = 0;
    for task in &tasks {
        end_ns = end_ns.max(task.terminated_ns.unwrap_or(0));
    }
    Timeline { end_ns, tasks: tasks.into(), ..Timeline::empty() }
}

fn find(timeline: &Timeline) -> Option<CriticalPath> {
    CriticalPath::find(timeline, &Spelling::default())
}

fn of_main(timeline: &Timeline) -> CriticalPath {
    CriticalPath::of_task(timeline, &Spelling::default(), 0).unwrap()
}

#[test]
fn it_is_that_of_a_model_that_goes_forward() {
    let mut random = Random(11);
    let mut longest = 0;
    for nth in 0..2000 {
        let seed = random.below(u64::MAX - 1) + 1;
        let mut program = Program { random: Random(seed), tasks: Vec::new(), most: 30 };
        let (end_ns, way) = program.task(TaskKey::Root(0), 0, None, Way::default());
        let timeline = timeline(program.tasks);
        let path = of_main(&timeline);
        let mut ns = [0; 3];
        for part in &path.parts {
            ns[part.state as usize] += part.total_ns;
            assert!(part.longest_ns <= part.total_ns && part.times > 0, "{path:?}");
        }
        assert_eq!((ns, path.tasks), (way.ns, way.tasks.len() as u64), "program {nth}: {path:#?}");
        assert_eq!((path.length_ns, path.end_ns), (end_ns, end_ns), "program {nth}");
        let found = find(&timeline);
        assert_eq!(found.is_some(), path.tasks > 1, "program {nth}");
        longest = longest.max(path.tasks);
    }
    assert!(longest > 5, "{longest}");
}

#[test]
fn a_part_has_its_function_and_its_longest_stretch() {
    let frame = |function: &str, line, origin| StackFrame {
        function: function.into(),
        file: Some("src/batch.rs".into()),
        line: Some(line),
        origin,
    };
    let of = |function, awaits| AwaitFrame { function, awaits, name: None, call: None };
    let sleep = of(frame("tokio::time::sleep::Sleep", 9, FrameOrigin::Runtime), Vec::new());
    let parse = of(frame("async batch::parse", 14, FrameOrigin::Program), vec![sleep]);
    let id = WaitId::new(1);
    let sleeps = |start_ns, end_ns| Poll::open(start_ns, 1, Some(0)).ended(end_ns).waits_at(id);
    let by = |key| Some(WokenBy::Task(key));
    let (main, child) = (TaskKey::Root(0), TaskKey::Spawned(7));
    let mut timeline = timeline(vec![
        task(
            main,
            0,
            None,
            vec![
                Poll::open(0, 1, Some(0)).ended(20_000),
                Poll::open(650_000, 1, Some(0)).ready(Some(600_000)).by(by(child)).ended(700_000),
            ],
        ),
        task(
            child,
            10_000,
            Some(main),
            vec![
                sleeps(30_000, 40_000).ready(Some(10_000)).by(by(main)),
                sleeps(140_000, 150_000).ready(Some(140_000)).by(Some(WokenBy::Runtime)),
                Poll::open(550_000, 1, Some(0))
                    .ready(Some(550_000))
                    .by(Some(WokenBy::Runtime))
                    .ended(600_000),
            ],
        ),
    ]);
    timeline.places.waits = vec![Wait { frames: vec![parse] }];
    let path = find(&timeline).unwrap();
    let sentence = "The critical path of main, 700 \u{b5}s: 500 \u{b5}s (71.4 %) task-7 waited at src/batch.rs:14, Sleep.";
    assert_eq!(path.sentence().as_deref(), Some(sentence));
    let mut told = Vec::new();
    for part in &path.parts {
        let longest = (part.longest_task, part.longest_start_ns, part.longest_ns);
        told.push((part.state, &*part.place, part.times, part.total_ns, longest));
    }
    assert_eq!(
        told,
        [
            (PathState::Waiting, "src/batch.rs:14, Sleep", 2, 500_000, (child, 150_000, 400_000)),
            (PathState::Running, "async batch::parse", 3, 70_000, (child, 550_000, 50_000)),
            (PathState::Running, "src/batch.rs:3:9 (main)", 2, 60_000, (main, 650_000, 50_000)),
            (PathState::Ready, "src/batch.rs:3:9 (main)", 1, 50_000, (main, 600_000, 50_000)),
            (PathState::Ready, "async batch::parse", 1, 20_000, (child, 10_000, 20_000)),
        ]
    );
    let text = timeline.report().to_string();
    assert!(
        text.contains("What the length of main depended on, 700 µs: its critical path"),
        "{text}"
    );
    // Nothing more is known than where they were spawned.
    timeline.places.waits = vec![Wait { frames: Vec::new() }];
    for poll in &mut timeline.tasks[1].polls {
        *poll = poll.waits_at(None);
    }
    let sentence = "The critical path of main, 700 \u{b5}s: 500 \u{b5}s (71.4 %) task-7 spawned at src/batch.rs:3:9 waited.";
    assert_eq!(find(&timeline).unwrap().sentence().as_deref(), Some(sentence));
    timeline.tasks[1].location = None;
    let sentence = find(&timeline).unwrap().sentence().unwrap();
    assert!(sentence.ends_with(" task-7 of unknown spawn location waited."), "{sentence}");
}

#[test]
fn what_was_not_recorded_is_unknown() {
    let main = |from_ns| {
        let last = Poll::open(600_000, 1, Some(0)).ended(700_000);
        let by = Some(WokenBy::Task(TaskKey::Spawned(7)));
        let first = Poll::open(from_ns, 1, Some(0)).ended(from_ns + 10_000);
        task(TaskKey::Root(0), 0, None, vec![first, last.ready(Some(600_000)).by(by)])
    };
    let child = |from_ns| {
        let only = Poll::open(from_ns, 1, Some(0)).ended(600_000);
        Task {
            spawned_ns: None,
            first_ns: from_ns,
            first_state: TaskState::Running,
            ..task(TaskKey::Spawned(7), 0, None, vec![only])
        }
    };
    let unknown_ns = |timeline: &Timeline| {
        let path = of_main(timeline);
        assert_eq!(path.length_ns, 700_000);
        let unknown = path.parts.iter().filter(|part| part.state == PathState::Unknown);
        unknown.map(|part| part.total_ns).sum::<u64>()
    };
    // Nothing is known of the task before 500 µs.
    let late = timeline(vec![main(0), child(500_000)]);
    assert_eq!((unknown_ns(&late), find(&late)), (500_000, None));
    // Nor is who woke it.
    let mut stopped = timeline(vec![main(0)]);
    assert_eq!(unknown_ns(&stopped), 0, "it waited");
    stopped.gaps = vec![(100_000, 200_000)];
    assert_eq!(unknown_ns(&stopped), 590_000);
}

#[test]
fn short_polls_of_a_task_that_wakes_itself_are_followed_once() {
    let main = TaskKey::Root(0);
    let mut polls = Vec::new();
    for nth in 0..300_000_u64 {
        // By the clocks, each may have been woken in itself.
        let (start_ns, by) = (nth * 200, Some(WokenBy::Task(main)));
        let ready_ns = if nth == 0 { 0 } else { start_ns - 100 };
        polls.push(
            Poll::open(start_ns, 1, Some(0)).ready(Some(ready_ns)).by(by).ended(start_ns + 100),
        );
    }
    let mut own = task(main, 0, None, polls);
    own.first_state = TaskState::Running;
    let path = of_main(&timeline(vec![own]));
    let mut sums = Vec::new();
    for part in &path.parts {
        sums.push((part.state, part.total_ns / 1_000_000));
    }
    // 200 000 of them are followed.
    assert_eq!(
        sums,
        [(PathState::Running, 20), (PathState::Ready, 20), (PathState::Unknown, 19)],
        "{path:?}"
    );
    assert_eq!(path.length_ns, path.end_ns);
}

#[test]
fn what_was_dropped_between_two_polls_is_unknown() {
    let main = TaskKey::Root(0);
    let by_itself = Some(WokenBy::Task(main));
    let mut own = task(
        main,
        0,
        None,
        vec![
            Poll::open(0, 1, Some(0)).ended(50_000),
            Poll::open(900_000, 1, Some(0)).ready(Some(890_000)).by(by_itself).ended(1_000_000),
        ],
    );
    own.first_state = TaskState::Running;
    let mut dropped = timeline(vec![own]);
    dropped.gaps = vec![(100_000, 800_000)];
    let told = |timeline: &Timeline| {
        let mut told = Vec::new();
        for part in of_main(timeline).parts {
            told.push((part.state, part.total_ns));
        }
        told
    };
    let expected =
        [(PathState::Unknown, 840_000), (PathState::Running, 150_000), (PathState::Ready, 10_000)];
    assert_eq!(told(&dropped), expected, "it may have been polled meanwhile");
    // The first poll that is kept of a task need not be for its spawn.
    let child = TaskKey::Spawned(7);
    let last = Poll::open(990_000, 1, Some(0)).ready(Some(980_000)).by(Some(WokenBy::Task(child)));
    let of_child = Poll::open(900_000, 1, Some(0)).ready(Some(890_000)).by(Some(WokenBy::Runtime));
    let tasks = vec![
        task(main, 0, None, vec![Poll::open(0, 1, Some(0)).ended(50_000), last.ended(1_000_000)]),
        task(child, 20_000, Some(main), vec![of_child.ended(980_000)]),
    ];
    let mut spawned = timeline(tasks);
    spawned.gaps = vec![(100_000, 800_000)];
    let (running, ready) = (PathState::Running, PathState::Ready);
    let expected = [
        (PathState::Unknown, 890_000),
        (running, 80_000),
        (running, 10_000),
        (ready, 10_000),
        (ready, 10_000),
    ];
    assert_eq!(told(&spawned), expected);
}
