//! Recording is started late, stopped, and started again: what is recorded is right, and nothing is
//! made up about the rest.
#![cfg(tokio_unstable)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tests::check::check;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio_statemap::timeline::{Task, TaskKey};
use tokio_statemap::{
    Collector, CollectorConfig, Event, Hooks, Keep, TaskState, Timeline, TraceTarget,
    register_hooks, register_hooks_with,
};

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

/// A task that was spawned before the start is recorded from its first poll on, with its location.
#[test]
fn a_late_start_records_spawn_locations() {
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

/// Between a stop and the next start there is a gap; no state reaches across it.
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
        // It is running when recording stops, and still when it starts again.
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
        // Who awaits a task goes on before its last poll has ended: that has when no worker runs any more.
        let metrics = runtime.metrics();
        while !(0..2).all(|worker| metrics.worker_park_unpark_count(worker) % 2 == 1) {
            yield_now().await;
        }
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
    assert!(from < to);
    assert_eq!(timeline.recorded_ns(), timeline.length_ns() - (to - from));
    let [before, during, after, long] = keys.map(|key| find(&timeline, key));
    let polls = &before.unwrap().polls;
    assert_eq!(polls.len(), 11);
    // What was recorded is on the sides of the gap on which it was.
    assert!(polls[9].end_ns().is_some_and(|end_ns| end_ns <= from));
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

/// Waits until `is_true`. It is no measurement: a test that waits for what never comes fails instead of hanging.
async fn wait_until(is_true: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_true() {
        assert!(began.elapsed() < Duration::from_secs(120), "it is waited for in vain");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// The key `start_after` of the attribute: at that time nothing is recorded yet.
#[tokio_statemap::test(
    start_after = "1h",
    duration = "1ms",
    report = concat!(env!("CARGO_TARGET_TMPDIR"), "/early-{pid}.txt"),
)]
async fn before_the_window_of_the_attribute() {
    let collector = tokio_statemap::current().unwrap();
    assert!(!collector.is_recording());
    tokio::spawn(async {}).await.unwrap();
    assert!(!collector.is_recording());
    let timeline = collector.snapshot();
    assert_eq!((timeline.events, timeline.tasks.len()), (0, 0));
}

/// The same once it has passed; the key `duration` is for later.
#[tokio_statemap::test(
    start_after = "1ms",
    duration = "1h",
    report = concat!(env!("CARGO_TARGET_TMPDIR"), "/within-{pid}.txt"),
)]
async fn within_the_window_of_the_attribute() {
    let collector = tokio_statemap::current().unwrap();
    wait_until(|| collector.is_recording()).await;
    let within = tokio::spawn(async {});
    let key = id(&within);
    within.await.unwrap();
    assert!(collector.is_recording());
    assert!(find(&collector.snapshot(), key).is_some_and(|task| task.spawned_ns.is_some()));
}

/// The key `duration`: after that nothing is recorded any more, and what was is kept.
#[tokio_statemap::test(
    duration = "1ms",
    report = concat!(env!("CARGO_TARGET_TMPDIR"), "/late-{pid}.txt"),
)]
async fn after_the_window_of_the_attribute() {
    let collector = tokio_statemap::current().unwrap();
    wait_until(|| !collector.is_recording()).await;
    let late = tokio::spawn(async {});
    let key = id(&late);
    late.await.unwrap();
    assert!(!collector.is_recording());
    let timeline = collector.snapshot();
    assert_eq!(find(&timeline, key), None);
    assert!(timeline.length_ns() > 0);
}

/// Both: it begins and ends by itself.
#[tokio_statemap::test(
    start_after = "1ms",
    duration = "1ms",
    report = concat!(env!("CARGO_TARGET_TMPDIR"), "/window-{pid}.txt"),
)]
async fn the_window_of_the_attribute_is_over() {
    let collector = tokio_statemap::current().unwrap();
    wait_until(|| collector.snapshot().length_ns() > 0 && !collector.is_recording()).await;
    let late = tokio::spawn(async {});
    let key = id(&late);
    late.await.unwrap();
    let timeline = collector.snapshot();
    assert_eq!(find(&timeline, key), None);
    assert!(timeline.length_ns() > 0);
}

/// Drained events are removed, but live tasks are kept.
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

/// A poll that ended while nothing was recorded has ended, also where its records were evicted.
#[test]
fn polls_that_ended_in_a_gap_are_not_made_up() {
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
        let metrics = runtime.metrics();
        // The number of a worker's parks and unparks is odd while it is parked.
        let is_parked = |worker| metrics.worker_park_unpark_count(worker) % 2 == 1;
        while !(0..metrics.num_workers()).all(is_parked) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(!collector.drain_events().is_empty());
        collector.start();
        // A poll that is made up is long after that, or later.
        std::thread::sleep(Duration::from_millis(5));
        (key, collector.snapshot())
    });
    assert!(find(&timeline, key).is_none(), "{:?}", find(&timeline, key));
    let report = timeline.report();
    assert!(report.longest_polls.is_empty(), "{report}");
}

/// Hooks that record which tasks have terminated, and had their last hook called.
fn record_last_polls() -> (Hooks, Arc<Mutex<BTreeSet<TaskKey>>>) {
    let key = |id: tokio::task::Id| TaskKey::Spawned(id.to_string().parse().unwrap());
    let ended = Arc::new(Mutex::new(BTreeSet::new()));
    let over = Arc::new(Mutex::new(BTreeSet::new()));
    let (ends, is_over) = (Arc::clone(&ended), Arc::clone(&over));
    let hooks = Hooks::new()
        .on_task_terminate(move |task| {
            ends.lock().unwrap().insert(key(task.id()));
        })
        .on_after_task_poll(move |task| {
            if ended.lock().unwrap().contains(&key(task.id())) {
                is_over.lock().unwrap().insert(key(task.id()));
            }
        });
    (hooks, over)
}

/// While it is full nothing is recorded until a drain: a task that terminated meanwhile is not
/// reported as alive, a spawned one has a location, and no verdict is based on a poll whose end was
/// not recorded.
#[test]
fn events_while_it_was_full_are_not_made_up() {
    let config =
        CollectorConfig { keep: Keep::First, max_events: 1000, ..CollectorConfig::default() };
    let mut builder = Builder::new_multi_thread();
    let (hooks, over) = record_last_polls();
    let builder_of_two = builder.worker_threads(2).enable_all();
    let collector = register_hooks_with(builder_of_two, config, hooks).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    let yields = async |polls: usize| {
        let task = tokio::spawn(async move {
            for _ in 0..polls {
                yield_now().await;
            }
        });
        task.await.unwrap();
    };
    collector.block_on(&runtime, async {
        let (end, ended) = tokio::sync::watch::channel(false);
        let polled = Arc::new(AtomicUsize::new(0));
        let waits = || {
            let (mut ended, polled) = (ended.clone(), Arc::clone(&polled));
            let wait = async move {
                ended.changed().await.unwrap();
                yield_now().await;
                polled.fetch_add(1, Ordering::SeqCst);
                std::future::pending::<()>().await;
            };
            (line!(), tokio::spawn(wait))
        };
        let early: Vec<_> = (0..100).map(|_| waits().1).collect();
        // Its poll starts before the store is full, and ends after.
        let (end_poll, poll_ended) = std::sync::mpsc::channel::<()>();
        let (began, begun) = tokio::sync::oneshot::channel();
        let long = tokio::spawn(async move {
            began.send(()).unwrap();
            poll_ended.recv().unwrap_err();
        });
        begun.await.unwrap();
        for _ in 0..10 {
            yields(1000).await;
        }
        let full = collector.snapshot();
        assert_eq!((full.events, full.lost.refused_events > 0), (1000, true));
        drop(end_poll);
        let mut ended_keys: Vec<_> = early.iter().map(id).collect();
        ended_keys.push(id(&long));
        long.await.unwrap();
        for task in early {
            task.abort();
            task.await.unwrap_err();
        }
        // A task that awaits another is woken before the hooks of its termination run.
        while !ended_keys.iter().all(|key| over.lock().unwrap().contains(key)) {
            yields(1).await;
        }
        let late: Vec<_> = (0..100).map(|_| waits()).collect();
        yields(10).await;
        for round in 0..3 {
            assert!(!collector.drain_events().is_empty());
            if round == 0 {
                end.send(true).unwrap();
                // Nothing that this thread does is recorded meanwhile: on a busy machine that
                // could fill it again, before they have been polled.
                while polled.load(Ordering::SeqCst) < late.len() {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            yields(20).await;
            let timeline = collector.snapshot();
            assert!(timeline.begin_ns > full.end_ns);
            let report = timeline.report();
            for key in &ended_keys {
                assert_eq!(find(&timeline, *key), None, "round {round}");
                assert!(report.longest_polls.iter().all(|poll| poll.task != *key), "{report}");
            }
            for (line, task) in &late {
                let at = find(&timeline, id(task)).expect("it lives").location;
                assert_eq!(
                    at.map(|at| (at.file, at.line)),
                    Some((file!(), *line)),
                    "round {round}"
                );
            }
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(10));
}

/// The worker of each poll of some tasks, as reported by Tokio.
type Truth = Arc<Mutex<BTreeMap<TaskKey, Vec<Option<u32>>>>>;

/// Tasks of several polls each, which report the worker they are on.
async fn report_workers(truth: &Truth) {
    let report = |_| {
        let truth = Arc::clone(truth);
        tokio::spawn(async move {
            let key = TaskKey::Spawned(tokio::task::id().to_string().parse().unwrap());
            for _ in 0..20 {
                let worker = tokio::runtime::worker_index().map(|index| index as u32);
                truth.lock().unwrap().entry(key).or_default().push(worker);
                yield_now().await;
            }
            // A poll without an entry, the last.
        })
    };
    for task in (0..50).map(report).collect::<Vec<_>>() {
        task.await.unwrap();
    }
}

/// The polls that are recorded on another worker than they were on.
fn on_wrong_workers(timeline: &Timeline, truth: &Truth) -> Vec<(TaskKey, Vec<Option<u32>>)> {
    let mut wrong = Vec::new();
    for (key, workers) in truth.lock().unwrap().iter() {
        let task = find(timeline, *key).expect("it was recorded");
        let seen: Vec<_> = task.polls.iter().map(|poll| poll.worker()).collect();
        if seen[..workers.len()] != workers[..] {
            wrong.push((*key, seen));
        }
    }
    wrong
}

/// While nothing is recorded, `block_in_place` moves workers to other threads, and the threads that
/// had them become other workers.
fn workers_move_while(is_full: bool) {
    for round in 0..25 {
        let config = CollectorConfig {
            keep: if is_full { Keep::First } else { Keep::Last },
            max_events: if is_full { 5000 } else { 1_000_000 },
            ..CollectorConfig::default()
        };
        let mut builder = Builder::new_multi_thread();
        let collector = register_hooks(builder.worker_threads(3).enable_all(), config).unwrap();
        collector.start();
        let runtime = builder.build().unwrap();
        let truth = Truth::default();
        runtime.block_on(async {
            report_workers(&Truth::default()).await;
            if is_full {
                while collector.lost().refused_events == 0 {
                    report_workers(&Truth::default()).await;
                }
                move_workers().await;
                collector.drain_events();
            } else {
                collector.stop();
                move_workers().await;
                collector.start();
            }
            report_workers(&truth).await;
        });
        drop(runtime);
        let wrong = on_wrong_workers(&collector.snapshot(), &truth);
        assert!(wrong.is_empty(), "round {round}: {} tasks: {wrong:?}", wrong.len());
    }
}

/// Several tasks lose their workers at the same time.
async fn move_workers() {
    let move_on = |i: u64| async move {
        for _ in 0..5 {
            let nap = Duration::from_micros(200 + i * 37);
            tokio::task::block_in_place(|| std::thread::sleep(nap));
            yield_now().await;
        }
    };
    for moved in (0..6).map(|i| tokio::spawn(move_on(i))).collect::<Vec<_>>() {
        moved.await.unwrap();
    }
}

#[test]
fn workers_that_moved_while_stopped_are_right() {
    workers_move_while(false);
}

#[test]
fn workers_that_moved_while_full_are_right() {
    workers_move_while(true);
}

/// If tasks aren't recorded, no hook shows that a thread lost its worker.
#[test]
fn workers_that_move_are_right_without_tasks() {
    for round in 0..12 {
        let config =
            CollectorConfig { trace_target: TraceTarget::Workers, ..CollectorConfig::default() };
        let unparks: Arc<Mutex<BTreeMap<_, usize>>> = Arc::default();
        let counted = Arc::clone(&unparks);
        let hooks = Hooks::new().on_thread_unpark(move || {
            let worker = tokio::runtime::worker_index().map(|index| index as u32);
            *counted.lock().unwrap().entry(worker).or_default() += 1;
        });
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(3).enable_all();
        let collector = register_hooks_with(&mut builder, config, hooks).unwrap();
        collector.start();
        let runtime = builder.build().unwrap();
        runtime.block_on(async {
            for _ in 0..5 {
                report_workers(&Truth::default()).await;
                move_workers().await;
            }
        });
        drop(runtime);
        let mut seen: BTreeMap<_, usize> = BTreeMap::new();
        for event in collector.drain_events() {
            if let Event::WorkerUnpark { worker, .. } = event {
                *seen.entry(worker).or_default() += 1;
            }
        }
        assert_eq!(seen, *unparks.lock().unwrap(), "round {round}");
    }
}

/// Its poll started in a gap, in which it lost its worker: the rest of the poll is on none.
#[test]
fn a_poll_that_lost_its_worker_in_a_gap_is_on_none() {
    let (collector, runtime) = runtime(Builder::new_multi_thread());
    collector.start();
    let (key, kept) = runtime.block_on(async {
        report_workers(&Truth::default()).await;
        collector.stop();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (began, begun) = tokio::sync::oneshot::channel();
        let long = tokio::spawn(async move {
            tokio::task::block_in_place(|| {
                began.send(()).unwrap();
                ended.recv().unwrap_err();
            });
        });
        let (end_kept, ended) = std::sync::mpsc::channel::<()>();
        let (began_kept, begun_kept) = tokio::sync::oneshot::channel();
        let keeps = tokio::spawn(async move {
            began_kept.send(tokio::runtime::worker_index().unwrap() as u32).unwrap();
            ended.recv().unwrap_err();
        });
        begun.await.unwrap();
        let kept_worker = begun_kept.await.unwrap();
        // It is polled by the thread that is that worker now.
        let index = async { tokio::runtime::worker_index().unwrap() as u32 };
        assert_ne!(tokio::spawn(index).await.unwrap(), kept_worker);
        collector.start();
        drop((end, end_kept));
        let keys = (id(&long), (id(&keeps), kept_worker));
        long.await.unwrap();
        keeps.await.unwrap();
        keys
    });
    drop(runtime);
    let timeline = collector.snapshot();
    for (key, worker) in [(key, None), (kept.0, Some(kept.1))] {
        let task = find(&timeline, key).expect("its poll ended while recorded");
        assert!(task.polls[0].is_cut_left());
        assert_eq!(task.polls[0].worker(), worker);
        assert_eq!(task.location.map(|at| at.file), Some(file!()));
    }
}
