//! Windows of recording, as seen by the hooks of a runtime.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

use super::*;
use crate::config::Keep;
use crate::hooks::{Hooks, install};
use crate::recorder::TokioHooks;
use crate::recorder::record::Kind;
use crate::recorder::root_future::Root;
use crate::recorder::window::mode::Mode;
use crate::trace::event::Event;
use crate::trace::snapshot::Snapshot;
use crate::trace::timeline::Timeline;

fn runtime(mut builder: Builder, config: CollectorConfig) -> (Recorder, Runtime) {
    let recorder = Recorder::new(config);
    install(&mut builder, Hooks::new(), Some(TokioHooks::new(&recorder)));
    (recorder, builder.build().expect("a runtime"))
}

/// Spawns `tasks` tasks that yield until `done`.
fn yield_until(done: &Arc<AtomicBool>, tasks: usize) -> Vec<tokio::task::JoinHandle<()>> {
    let yields = |_| {
        let done = Arc::clone(done);
        tokio::spawn(async move {
            while !done.load(Ordering::SeqCst) {
                yield_now().await;
            }
        })
    };
    (0..tasks).map(yields).collect()
}

/// Returns how many records tell where a task was spawned whose spawn wasn't recorded. The location of each is told
/// anew in each chunk, and the number of chunks depends on the background thread.
fn origins(recorder: &Recorder) -> usize {
    let snapshot = Snapshot::take(recorder, false);
    let records = snapshot.capture.segments.iter().flat_map(|segment| segment.records());
    records.filter(|record| record.kind() == Kind::LateOrigin).count()
}

/// This also holds with many tasks that are polled often.
#[test]
#[ignore = "slow"]
fn the_origin_of_a_late_task_is_recorded_once() {
    const TASKS: usize = 200;
    let config = CollectorConfig { schedule_latency: false, ..CollectorConfig::default() };
    let (recorder, runtime) = runtime(Builder::new_current_thread(), config);
    runtime.block_on(async {
        let done = Arc::new(AtomicBool::new(false));
        let tasks = yield_until(&done, TASKS);
        yield_now().await;
        for window in 1..=3 {
            recorder.start();
            // Each of these makes 61 polls.
            for _ in 0..2000 {
                yield_now().await;
            }
            recorder.stop();
            let timeline = Timeline::from_snapshot(&Snapshot::take(&recorder, false));
            let polls: usize = timeline.tasks.iter().map(|task| task.polls.len()).sum();
            assert!(polls > 100_000 * window, "{polls}");
            assert_eq!(timeline.tasks.len(), TASKS);
            assert!(timeline.tasks.iter().all(|task| task.location.is_some()));
            assert_eq!(origins(&recorder), window * TASKS);
        }
        done.store(true, Ordering::SeqCst);
        for task in tasks {
            task.await.expect("it ends");
        }
    });
}

#[test]
fn a_task_spawned_in_a_window_needs_no_origin_record() {
    let (recorder, runtime) = runtime(Builder::new_current_thread(), CollectorConfig::default());
    runtime.block_on(async {
        tokio::spawn(yield_now()).await.expect("it ends");
        recorder.start();
        for _ in 0..1000 {
            tokio::spawn(yield_now()).await.expect("it ends");
        }
    });
    assert_eq!(origins(&recorder), 0);
}

/// A task whose spawn hook ran just before the window began has a location too, even if a task with
/// a smaller id was spawned just after.
#[test]
#[ignore = "slow"]
fn a_window_that_opens_amid_spawns_misses_no_task() {
    for round in 0..40 {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(4);
        let (recorder, runtime) = runtime(builder, CollectorConfig::default());
        let spawned = Arc::new(AtomicUsize::new(0));
        let done = Arc::new(AtomicBool::new(false));
        let spawners: Vec<_> = (0..4)
            .map(|_| {
                let (spawned, done) = (Arc::clone(&spawned), Arc::clone(&done));
                runtime.spawn(async move {
                    let mut tasks = Vec::new();
                    while !done.load(Ordering::SeqCst) && tasks.len() < 20_000 {
                        let done = Arc::clone(&done);
                        tasks.push(tokio::spawn(async move {
                            while !done.load(Ordering::SeqCst) {
                                yield_now().await;
                            }
                        }));
                        spawned.fetch_add(1, Ordering::SeqCst);
                        if tasks.len() % 64 == 0 {
                            yield_now().await;
                        }
                    }
                    for task in tasks {
                        task.await.expect("it ends");
                    }
                })
            })
            .collect();
        while spawned.load(Ordering::SeqCst) < 200 + round {
            std::hint::spin_loop();
        }
        recorder.start();
        std::thread::sleep(Duration::from_millis(5));
        done.store(true, Ordering::SeqCst);
        for spawner in spawners {
            runtime.block_on(spawner).expect("it ends");
        }
        drop(runtime);
        let timeline = Timeline::from_snapshot(&Snapshot::take(&recorder, false));
        let unknown: Vec<_> =
            timeline.tasks.iter().filter(|task| task.location.is_none()).map(|t| t.key).collect();
        assert!(unknown.is_empty(), "round {round}: {unknown:?} of {}", timeline.tasks.len());
    }
}

fn is_full(recorder: &Recorder) -> bool {
    recorder.kept.windows().is_full
}

fn keep_first(max_events: usize) -> CollectorConfig {
    CollectorConfig { keep: Keep::First, max_events, ..CollectorConfig::default() }
}

#[test]
fn drained_threads_that_ended_are_forgotten() {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).thread_keep_alive(Duration::ZERO);
    let (recorder, runtime) = runtime(builder, keep_first(1_000_000));
    recorder.start();
    runtime.block_on(async {
        for _ in 0..600 {
            tokio::task::spawn_blocking(|| ()).await.expect("it ends");
        }
    });
    drop(runtime);
    assert!(!Snapshot::take(&recorder, true).events().is_empty());
    let streams = recorder.kept.memory().live_tasks.streams().count();
    assert!(streams <= 1, "{streams} of threads that ended");
}

/// A thread whose events are all refused takes no memory once it has ended.
#[test]
fn threads_that_end_while_it_is_full_take_no_memory() {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).thread_keep_alive(Duration::ZERO);
    let (recorder, runtime) = runtime(builder, keep_first(100));
    recorder.start();
    let blocking = async || {
        for _ in 0..300 {
            tokio::task::spawn_blocking(|| ()).await.expect("it ends");
        }
    };
    let records = || {
        let snapshot = Snapshot::take(&recorder, false);
        (
            snapshot.capture.segments.iter().map(|segment| segment.records().len()).sum::<usize>(),
            is_full(&recorder),
        )
    };
    runtime.block_on(blocking());
    let (before, is_full) = records();
    assert!(is_full);
    runtime.block_on(blocking());
    assert_eq!(records().0, before);
}

/// This also holds if the watcher looks at a chunk before the thread has written to it, while the chunk is prefaulted.
/// It takes longer the larger the chunk is.
#[test]
fn no_record_is_lost_where_a_writer_is_interrupted() {
    const TASKS: u64 = 100_000;
    let config = CollectorConfig { max_events: 1 << 22, ..CollectorConfig::default() };
    let recorder = Recorder::new(config);
    recorder.start();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                let buffer = recorder.kept.buffers.all().first().copied();
                buffer.and_then(|buffer| buffer.read(|_, _, chunk| chunk.interrupt()));
            }
        });
        for id in 1..=TASKS {
            recorder.task_spawned(id, Some(Location::caller()));
        }
        done.store(true, Ordering::SeqCst);
    });
    let snapshot = Snapshot::take(&recorder, false);
    assert_eq!(snapshot.capture.lost.total(), 0);
    let has_location = |event: &Event| matches!(event, Event::TaskSpawn { location: Some(_), .. });
    let known = snapshot.events().iter().filter(|event| has_location(event)).count();
    assert_eq!(known as u64, TASKS);
}

/// Emits `events` events to `recorder`.
fn emit(recorder: &Recorder, events: u64) {
    for id in 1..=events {
        recorder.task_spawned(id, None);
    }
}

/// The store receives a chunk before the thread that handed it over checks `max_events`.
#[test]
fn chunks_drained_before_the_check_do_not_count() {
    let recorder = Recorder::new(keep_first(100));
    recorder.start();
    for _ in 0..5 {
        emit(&recorder, 60);
        assert!(recorder.kept.flush_buffers() > 0);
        assert!(!Snapshot::take(&recorder, true).events().is_empty());
        recorder.kept.after_drain();
        emit(&recorder, 50);
        recorder.kept.flush();
        assert!(!is_full(&recorder), "not as many are kept");
        Snapshot::take(&recorder, true);
    }
}

#[test]
#[ignore = "slow"]
fn a_start_during_a_drain_never_leaves_it_full() {
    const ROUNDS: usize = 5_000;
    let recorder = Recorder::new(keep_first(4));
    let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wait_for = |counter: &AtomicUsize, round| {
        while counter.load(Ordering::SeqCst) < round {
            std::thread::yield_now();
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..=ROUNDS {
                wait_for(&begun, round);
                // Each round does this at a different moment of the drain.
                (0..round * 7 % 3000).for_each(|_| std::hint::spin_loop());
                recorder.start();
                ended.store(round, Ordering::SeqCst);
            }
        });
        for round in 1..=ROUNDS {
            recorder.start();
            emit(&recorder, 5);
            recorder.kept.flush();
            recorder.stop();
            assert!(is_full(&recorder));
            begun.store(round, Ordering::SeqCst);
            Snapshot::take(&recorder, true);
            wait_for(&ended, round);
            let mode = recorder.kept.mode.get();
            if mode == Mode::Full {
                begun.store(ROUNDS, Ordering::SeqCst); // lets the other thread end
                panic!("round {round}: it is full of nothing");
            }
        }
    });
}

/// A window ends when the store is full, and a drain begins the next.
#[test]
fn full_is_a_gap() {
    let recorder = Recorder::new(keep_first(10));
    let root = Root::new(yield_now(), Location::caller(), Some(&recorder));
    drop(root);
    recorder.start();
    emit(&recorder, 12);
    recorder.kept.flush();
    let closed = recorder.kept.windows().all.clone();
    assert_eq!(closed.len(), 1);
    assert!(closed[0].to.is_some(), "{closed:?}");
    assert!(recorder.kept.is_recording(), "as far as anyone asked");
    assert_eq!(Snapshot::take(&recorder, true).events().len(), 10);
    let open = recorder.kept.windows().all.clone();
    assert_eq!((open.len(), open[0], open[1].to), (2, closed[0], None));
    // Starting has no effect while recording is on, full or not; stopping ends it.
    recorder.start();
    emit(&recorder, 12);
    recorder.kept.flush();
    recorder.start();
    assert_eq!(recorder.kept.windows().all.len(), 2);
    recorder.stop();
    assert!(!recorder.kept.is_recording());
    Snapshot::take(&recorder, true);
    assert!(!recorder.kept.is_recording(), "a drain starts nothing");
    assert!(recorder.kept.windows().all.iter().all(|window| window.to.is_some()));
}

/// If an id doesn't fit beside another value, a note has that value.
#[test]
fn ids_that_are_not_packed_read_the_same() {
    let recorder = Recorder::new(CollectorConfig::default());
    recorder.start();
    let location = Location::caller();
    let ids = [(1 << 36) - 1, 1 << 36, 1 << 40];
    for id in ids {
        recorder.task_spawned(id, Some(location));
        recorder.poll_started(id, &|_| Some(Duration::from_nanos(1 << 18)), 0, || None);
        recorder.poll_ended(id, None, || None);
    }
    let snapshot = Snapshot::take(&recorder, false);
    let events = snapshot.events();
    assert_eq!((events.len(), snapshot.capture.lost.total()), (9, 0));
    for (id, events) in ids.into_iter().zip(events.chunks(3)) {
        let [
            Event::TaskSpawn { task_id: spawned, location: Some(at), .. },
            Event::TaskPollStart { task_id: polled, time_ns, ready_ns: Some(ready_ns), .. },
            Event::TaskPollEnd { task_id: ended, .. },
        ] = *events
        else {
            panic!("{events:?}");
        };
        assert_eq!((spawned, polled, ended, at.line), (id, id, id, location.line()));
        assert_eq!(ready_ns, time_ns.saturating_sub(1 << 18));
    }
}

/// The docs of `register_hooks` say so.
#[test]
fn a_start_leaves_a_full_recorder_full_until_it_is_drained() {
    let recorder = Recorder::new(keep_first(10));
    recorder.start();
    emit(&recorder, 12);
    recorder.kept.flush();
    recorder.stop();
    recorder.start();
    assert!(recorder.kept.is_recording());
    emit(&recorder, 5);
    let snapshot = Snapshot::take(&recorder, true);
    assert_eq!(snapshot.capture.lost.refused_events, 2 + 5);
    assert_eq!(snapshot.events().len(), 10);
    emit(&recorder, 5);
    assert_eq!(Snapshot::take(&recorder, true).events().len(), 5, "it goes on by itself");
}

/// A thread that ends while recording is stopped writes a note, which must not extend the
/// recording.
#[test]
fn a_thread_that_ends_while_it_is_stopped_moves_no_edge() {
    for keep in [Keep::First, Keep::Last] {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_keep_alive(Duration::from_millis(30));
        let config = CollectorConfig { keep, ..CollectorConfig::default() };
        let (recorder, runtime) = runtime(builder, config);
        let threads_end = || std::thread::sleep(Duration::from_millis(150));
        recorder.start();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        runtime.block_on(async {
            let begun = Arc::new(AtomicBool::new(false));
            let began = Arc::clone(&begun);
            let poll = tokio::spawn(async move {
                began.store(true, Ordering::SeqCst);
                ended.recv().expect_err("nothing is sent");
            });
            while !begun.load(Ordering::SeqCst) {
                yield_now().await;
            }
            tokio::task::spawn_blocking(|| ()).await.expect("it ends");
            recorder.stop();
            let stopped_ns = Snapshot::take(&recorder, false).end_ns;
            Snapshot::take(&recorder, true);
            drop(end);
            poll.await.expect("it ends");
            threads_end();
            let snapshot = Snapshot::take(&recorder, false);
            // The clock's scale gets more accurate with time.
            let moved_ns = snapshot.end_ns.abs_diff(stopped_ns);
            assert!(moved_ns < 1_000_000, "{keep:?}: {moved_ns}");
            recorder.start();
            let snapshot = Snapshot::take(&recorder, false);
            let timeline = Timeline::from_snapshot(&snapshot);
            assert!(timeline.begin_ns > stopped_ns, "{keep:?}");
            assert!(timeline.tasks.is_empty(), "{keep:?}: {:?}", timeline.tasks);
        });
    }
}
