//! Recording is started late, stopped, and started again: what is recorded is right, what isn't is
//! not made up.
#![cfg(tokio_unstable)]

use std::sync::Arc;
use std::time::Duration;

use tests::check::check;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio_statemap::timeline::{Task, TaskKey};
use tokio_statemap::{Collector, CollectorConfig, TaskState, Timeline, register_hooks};

fn runtime(mut builder: Builder) -> (Arc<Collector>, Runtime) {
    let config = CollectorConfig::default();
    let collector = register_hooks(builder.worker_threads(2).enable_all(), config).unwrap();
    let runtime = builder.build().unwrap();
    (collector, runtime)
}

fn id<T>(task: &tokio::task::JoinHandle<T>) -> TaskKey {
    TaskKey::Spawned(task.id().to_string().parse().unwrap())
}

fn find(timeline: &Timeline, key: TaskKey) -> Option<&Task> {
    timeline.tasks.iter().find(|task| task.key == key)
}

fn states(timeline: &Timeline, task: &Task) -> Vec<TaskState> {
    task.spans(timeline.end_ns).map(|span| span.state).collect()
}

/// A task that was spawned before the start is there from its first poll on, with its location.
#[test]
fn a_late_start_still_knows_where_tasks_were_spawned() {
    let (collector, runtime) = runtime(Builder::new_current_thread());
    let (line, key) = collector.block_on(&runtime, async {
        let notify = Arc::new(Notify::new());
        let waits = Arc::clone(&notify);
        let line = line!() + 1;
        let task = tokio::spawn(async move {
            waits.notified().await;
            waits.notified().await;
        });
        yield_now().await;
        collector.start();
        for _ in 0..2 {
            notify.notify_one();
            yield_now().await;
        }
        let key = id(&task);
        task.await.unwrap();
        (line, key)
    });
    let timeline = collector.snapshot();
    let task = find(&timeline, key).unwrap();
    assert_eq!(task.location.map(|l| (l.file, l.line)), Some((file!(), line)));
    assert_eq!((task.spawned_ns, task.polls.len()), (None, 2));
    use TaskState::{Completed, Ready, Running, Waiting};
    assert_eq!(states(&timeline, task), [Ready, Running, Waiting, Ready, Running, Completed]);
    let main = &timeline.tasks[0];
    assert_eq!(main.location.unwrap().file, file!());
    assert!(main.polls[0].is_cut_left(), "it was being polled when the recording started");
}

/// Between a stop and the next start there is a gap; nothing reaches over it.
#[test]
fn stopped_and_started_again() {
    let (collector, runtime) = runtime(Builder::new_multi_thread());
    collector.start();
    let keys = collector.block_on(&runtime, async {
        let polls = || {
            tokio::spawn(async {
                for _ in 0..10 {
                    yield_now().await;
                }
            })
        };
        let (before, during, after);
        let task = polls();
        before = id(&task);
        task.await.unwrap();
        // It runs when the recording stops, and still when it starts again.
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (began, begun) = tokio::sync::oneshot::channel();
        let long = tokio::spawn(async move {
            began.send(()).unwrap();
            tokio::task::block_in_place(|| ended.recv().unwrap_err());
        });
        begun.await.unwrap();
        collector.stop();
        collector.stop();
        let task = polls();
        during = id(&task);
        task.await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        collector.start();
        collector.start();
        let task = polls();
        after = id(&task);
        task.await.unwrap();
        let key = id(&long);
        drop(end);
        long.await.unwrap();
        [before, during, after, key]
    });
    drop(runtime);
    collector.stop();
    let timeline = collector.snapshot();
    assert_eq!(timeline.gaps.len(), 1);
    let (from, to) = timeline.gaps[0];
    assert!(to - from >= 20_000_000);
    assert_eq!(timeline.recorded_ns(), timeline.length_ns() - (to - from));
    let [before, during, after, long] = keys.map(|key| find(&timeline, key));
    assert_eq!(before.unwrap().polls.len(), 11);
    assert_eq!(during, None, "it lived in the gap");
    assert_eq!(after.unwrap().polls.len(), 11);
    assert!(after.unwrap().spawned_ns.unwrap() >= to);
    let polls = &long.unwrap().polls;
    let cuts: Vec<_> = polls.iter().map(|p| (p.is_cut_left(), p.is_cut_right())).collect();
    assert_eq!(cuts, [(false, true), (true, false)]);
    assert_eq!((polls[0].end_ns(), polls[1].start_ns()), (Some(from), to));
    let report = timeline.report().to_string();
    assert!(report.contains("gap"), "{report}");
    let data = timeline.to_data();
    let tasks = check(&data.tasks_to_bytes().unwrap()).unwrap();
    assert!(tasks.title.contains("gap"), "{}", tasks.title);
    check(&data.workers_to_bytes().unwrap()).unwrap();
}

/// Nothing was ever recorded: the outputs say so, and are valid.
#[test]
fn never_started() {
    let (collector, runtime) = runtime(Builder::new_current_thread());
    collector.block_on(&runtime, async { tokio::spawn(async {}).await.unwrap() });
    assert!(!collector.is_recording());
    assert_eq!(collector.lost().total(), 0);
    assert!(collector.drain_events().is_empty());
    let timeline = collector.snapshot();
    assert_eq!((timeline.tasks.len(), timeline.events), (0, 0));
    println!("{}", timeline.report());
    let data = timeline.to_data();
    check(&data.tasks_to_bytes().unwrap()).unwrap();
    check(&data.workers_to_bytes().unwrap()).unwrap();
}

/// The keys `start_after` and `duration` of the attribute.
#[tokio_statemap::test(
    start_after = "30ms",
    duration = "30ms",
    report = std::env::temp_dir().join("statemap-window-{pid}.txt"),
)]
async fn the_window_of_the_attribute() {
    let collector = tokio_statemap::current().unwrap();
    assert!(!collector.is_recording());
    let early = id(&tokio::spawn(async {}));
    while !collector.is_recording() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let within = id(&tokio::spawn(async {}));
    while collector.is_recording() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let late = id(&tokio::spawn(async {}));
    yield_now().await;
    let timeline = collector.snapshot();
    assert!(timeline.length_ns() >= 30_000_000, "{}", timeline.length_ns());
    assert_eq!(find(&timeline, early), None);
    assert!(find(&timeline, within).is_some());
    assert_eq!(find(&timeline, late), None);
}

/// What was drained is not there any more, but who lives is remembered.
#[test]
fn drained_now_and_then() {
    let (collector, runtime) = runtime(Builder::new_multi_thread());
    collector.start();
    let (first, second, rest, key, all) = collector.block_on(&runtime, async {
        let lives = tokio::spawn(std::future::pending::<()>());
        for _ in 0..100 {
            tokio::spawn(async { yield_now().await }).await.unwrap();
        }
        let first = collector.drain_events();
        for _ in 0..100 {
            tokio::spawn(async { yield_now().await }).await.unwrap();
        }
        let all = collector.snapshot();
        let second = collector.drain_events();
        let key = id(&lives);
        (first, second, collector.snapshot(), key, all)
    });
    drop(runtime);
    assert!(first.len() > 600 && second.len() > 600);
    for timeline in [&all, &rest] {
        let lives = find(timeline, key).expect("it was spawned before the drain, and lives");
        assert_eq!(lives.location.unwrap().file, file!());
        assert_eq!(lives.first_state, TaskState::Waiting);
    }
    // Events of several drains make one timeline.
    let both: Vec<_> = first.into_iter().chain(second).collect();
    let data = collector.events_to_data(&both);
    let tasks = check(&data.tasks_to_bytes().unwrap()).unwrap();
    assert!(tasks.entities.len() >= 202);
    assert!(tasks.entities.contains_key("main"));
    check(&data.workers_to_bytes().unwrap()).unwrap();
}

/// A poll that ended while nothing was recorded is over, also where all that was recorded of it is
/// only remembered; and who was parked still is.
#[test]
fn what_ended_in_a_gap_is_not_made_up() {
    let (collector, runtime) = runtime(Builder::new_multi_thread());
    collector.start();
    let (key, timeline) = collector.block_on(&runtime, async {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (began, begun) = tokio::sync::oneshot::channel();
        let long = tokio::spawn(async move {
            began.send(()).unwrap();
            ended.recv().unwrap_err();
        });
        begun.await.unwrap();
        let key = id(&long);
        collector.stop();
        drop(end);
        long.await.unwrap();
        // Until the workers are parked.
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(!collector.drain_events().is_empty());
        collector.start();
        std::thread::sleep(Duration::from_millis(20));
        (key, collector.snapshot())
    });
    assert!(find(&timeline, key).is_none(), "{:?}", find(&timeline, key));
    let report = timeline.report();
    assert!(report.longest_polls.is_empty(), "{report}");
}
