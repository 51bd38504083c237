//! If recording starts late, or stops and starts again, what is recorded is right, and nothing is made up about the rest.
#![cfg(tokio_unstable)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tests::check::check;
use tests::files::NULL_DEVICE;
use tests::runtime::key;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio_statemap::timeline::{Task, TaskKey};
use tokio_statemap::{
    Collector, CollectorConfig, Event, Hooks, Keep, TaskState, Timeline, TraceTarget,
    register_hooks, register_hooks_with,
};

/// Builds a runtime with hooks that don't record yet.
fn runtime(mut builder: Builder) -> (Arc<Collector>, Runtime) {
    let config = CollectorConfig::default();
    let collector = register_hooks(builder.worker_threads(2).enable_all(), config).unwrap();
    let runtime = builder.build().unwrap();
    (collector, runtime)
}

fn id<T>(task: &tokio::task::JoinHandle<T>) -> TaskKey {
    key(task.id())
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

#[test]
fn no_state_reaches_across_a_gap() {
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
        // This task is polled when recording stops, and still when it starts again.
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
        // A task may be joined before its last poll has ended. The poll has certainly ended when all workers are parked.
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
    // Each poll is on its side of the gap.
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

#[test]
fn a_recording_that_never_started_is_empty_and_valid() {
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

/// Waits until `is_true`. The limit measures nothing; it lets a test fail instead of hang.
async fn wait_until(is_true: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_true() {
        assert!(began.elapsed() < Duration::from_secs(120), "it is waited for in vain");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio_statemap::test(start_after = "1h", duration = "1ms", report = NULL_DEVICE)]
async fn nothing_is_recorded_before_start_after() {
    let collector = tokio_statemap::current().unwrap();
    assert!(!collector.is_recording());
    tokio::spawn(async {}).await.unwrap();
    assert!(!collector.is_recording());
    let timeline = collector.snapshot();
    assert_eq!((timeline.events, timeline.tasks.len()), (0, 0));
}

#[tokio_statemap::test(start_after = "1ms", duration = "1h", report = NULL_DEVICE)]
async fn recording_starts_by_itself_after_start_after() {
    let collector = tokio_statemap::current().unwrap();
    wait_until(|| collector.is_recording()).await;
    let within = tokio::spawn(async {});
    let key = id(&within);
    within.await.unwrap();
    assert!(collector.is_recording());
    assert!(find(&collector.snapshot(), key).is_some_and(|task| task.spawned_ns.is_some()));
}

/// Nothing is recorded any more, but what was recorded is kept.
#[tokio_statemap::test(duration = "1ms", report = NULL_DEVICE)]
async fn recording_stops_by_itself_after_duration() {
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

#[tokio_statemap::test(start_after = "1ms", duration = "1ms", report = NULL_DEVICE)]
async fn recording_starts_and_stops_by_itself() {
    let collector = tokio_statemap::current().unwrap();
    wait_until(|| collector.snapshot().length_ns() > 0 && !collector.is_recording()).await;
    let late = tokio::spawn(async {});
    let key = id(&late);
    late.await.unwrap();
    let timeline = collector.snapshot();
    assert_eq!(find(&timeline, key), None);
    assert!(timeline.length_ns() > 0);
}

#[test]
fn a_drain_removes_events_but_keeps_live_tasks() {
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

/// A poll that ended while nothing was recorded isn't taken to go on, even if its records were drained.
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
        // A worker's count of parks and unparks is odd while it is parked.
        let is_parked = |worker| metrics.worker_park_unpark_count(worker) % 2 == 1;
        while !(0..metrics.num_workers()).all(is_parked) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(!collector.drain_events().is_empty());
        collector.start();
        // A made-up poll would be long after this time.
        std::thread::sleep(Duration::from_millis(5));
        (key, collector.snapshot())
    });
    assert!(find(&timeline, key).is_none(), "{:?}", find(&timeline, key));
    let report = timeline.report();
    assert!(report.longest_polls.is_empty(), "{report}");
}

/// Returns hooks that note which tasks have terminated and had their last hook called, and that set of tasks.
fn record_last_polls() -> (Hooks, Arc<Mutex<BTreeSet<TaskKey>>>) {
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

/// A full store records nothing until a drain. A task that terminated meanwhile isn't reported as alive, a spawned one has a
/// location, and no verdict is based on a poll whose end wasn't recorded.
#[test]
fn nothing_is_made_up_about_the_time_of_a_full_store() {
    let config =
        CollectorConfig { keep: Keep::First, max_events: 1000, ..CollectorConfig::default() };
    let mut builder = tests::runtime::builder(2);
    let (hooks, over) = record_last_polls();
    let collector = register_hooks_with(builder.enable_all(), config, hooks).unwrap();
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
        // The poll of this task starts before the store is full, and ends after that.
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
        // A task may be joined before the hooks of its termination run.
        while !ended_keys.iter().all(|key| over.lock().unwrap().contains(key)) {
            yields(1).await;
        }
        let late: Vec<_> = (0..100).map(|_| waits()).collect();
        yields(10).await;
        for round in 0..3 {
            assert!(!collector.drain_events().is_empty());
            if round == 0 {
                end.send(true).unwrap();
                // This thread must not cause events here: on a busy machine they could fill the store again before the tasks
                // were polled.
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

/// The worker of each poll of some tasks, according to Tokio.
type Truth = Arc<Mutex<BTreeMap<TaskKey, Vec<Option<u32>>>>>;

/// Runs tasks of several polls each, which note the workers that poll them.
async fn report_workers(truth: &Truth) {
    let report = |_| {
        let truth = Arc::clone(truth);
        tokio::spawn(async move {
            let key = key(tokio::task::id());
            for _ in 0..20 {
                let worker = tokio::runtime::worker_index().map(|index| index as u32);
                truth.lock().unwrap().entry(key).or_default().push(worker);
                yield_now().await;
            }
            // The last poll has no entry.
        })
    };
    for task in (0..50).map(report).collect::<Vec<_>>() {
        task.await.unwrap();
    }
}

/// Returns the tasks with polls that are recorded on the wrong worker, and the recorded workers.
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

/// Asserts that workers are right after they moved to other threads, and their threads became other workers, while nothing
/// was recorded: as the store was full, or recording was stopped.
fn assert_moved_workers(is_full: bool) {
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

/// Lets several tasks lose their workers at the same time.
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
    assert_moved_workers(false);
}

#[test]
fn workers_that_moved_while_full_are_right() {
    assert_moved_workers(true);
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

/// If a poll starts in a gap and loses its worker there, the rest of the poll is on no worker.
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
        // The thread that is that worker now polls one of these tasks. A single one may never be polled: Tokio doesn't
        // wake a worker that is just going to park without a last look at the queues, and relies on the other one, which
        // is blocked here (tokio-rs/tokio#6847).
        let other_worker = loop {
            let index = async { tokio::runtime::worker_index().unwrap() as u32 };
            let polled = tokio::spawn(index);
            if let Ok(index) = tokio::time::timeout(Duration::from_millis(100), polled).await {
                break index.unwrap();
            }
        };
        assert_ne!(other_worker, kept_worker);
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
