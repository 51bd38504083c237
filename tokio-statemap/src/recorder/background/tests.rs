//! Threads that record while others take snapshots and drain: nothing is lost, and each thread's events are in
//! order.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::config::{CollectorConfig, Keep};
use crate::recorder::Recorder;
use crate::trace::event::Event;
use crate::trace::snapshot::Snapshot;

const THREADS: u64 = 4;
const EVENTS: u64 = 80_000;
/// The number of threads, one after the other, that each thread stands for.
const PARTS: u64 = 100;

fn config(keep: Keep) -> CollectorConfig {
    CollectorConfig { keep, max_events: 3000, buffer_capacity: 64, ..CollectorConfig::default() }
}

/// Emits events on some threads, each of which records the ids from its number on, and calls `meanwhile`
/// until all have ended.
fn emit(recorder: &Recorder, mut meanwhile: impl FnMut()) {
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let thread = |number: u64| {
            // The threads run one after the other: each gets the chunks of the one before.
            for part in 0..PARTS {
                let emits = move || {
                    let from = number * EVENTS + part * EVENTS / PARTS;
                    (from..from + EVENTS / PARTS).for_each(|id| recorder.task_spawned(id, None));
                };
                std::thread::scope(|scope| _ = scope.spawn(emits));
            }
        };
        let threads: Vec<_> =
            (0..THREADS).map(|number| scope.spawn(move || thread(number))).collect();
        scope.spawn(|| {
            let panicked = threads.into_iter().filter_map(|thread| thread.join().err()).last();
            ended.store(true, Ordering::SeqCst);
            if let Some(panic) = panicked {
                std::panic::resume_unwind(panic);
            }
        });
        // This does what the background thread does, but more often.
        scope.spawn(|| {
            while !ended.load(Ordering::SeqCst) {
                recorder.kept.collect();
                std::thread::sleep(Duration::from_micros(100));
            }
        });
        while !ended.load(Ordering::SeqCst) {
            meanwhile();
        }
    });
}

/// The last id of each thread must grow from one event of it to the next.
fn check_order(events: &[Event]) {
    let mut last: HashMap<u32, u64> = HashMap::new();
    for event in events {
        let &Event::TaskSpawn { task_id, thread, .. } = event else { continue };
        let before = last.insert(thread, task_id);
        assert!(before.is_none_or(|before| before < task_id), "{before:?}, then {task_id}");
    }
}

#[test]
fn what_is_emitted_is_kept_or_dropped() {
    let recorder = Recorder::new(config(Keep::Last));
    recorder.start();
    emit(&recorder, || {
        let snapshot = Snapshot::take(&recorder, false);
        let events = snapshot.events();
        assert!(events.len() <= 3000);
        check_order(&events);
    });
    let snapshot = Snapshot::take(&recorder, false);
    let events = snapshot.events();
    check_order(&events);
    assert_eq!(events.len(), 3000);
    assert_eq!(snapshot.capture.lost.dropped_events + 3000, THREADS * EVENTS);
    recorder.stop();
}

#[test]
fn what_is_emitted_is_drained_or_refused() {
    let recorder = Recorder::new(config(Keep::First));
    recorder.start();
    let mut drained = 0;
    let mut drain = || {
        let events = Snapshot::take(&recorder, true).events();
        check_order(&events);
        drained += events.len() as u64;
    };
    emit(&recorder, &mut drain);
    drain();
    let lost = Snapshot::take(&recorder, false).capture.lost;
    assert_eq!(lost.refused_events + drained, THREADS * EVENTS);
    recorder.stop();
}

#[test]
fn a_thread_that_fills_chunks_gets_empty_ones() {
    let recorder = Recorder::new(CollectorConfig { stacks: false, ..config(Keep::Last) });
    recorder.start();
    start_thread(&recorder);
    let since = Instant::now();
    let mut id = 0;
    let spare = || recorder.kept.buffers.all().first().map_or(0, |buffer| buffer.spare());
    while spare() == 0 {
        assert!(since.elapsed() < Duration::from_secs(60), "it was never given one");
        recorder.task_spawned(id, None);
        id += 1;
    }
    // The background thread sleeps, and wakes up for the next chunk.
    while !process::sleeps() && since.elapsed() < Duration::from_secs(1) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let has_filled = || recorder.kept.buffers.all().iter().any(|buffer| buffer.has_filled());
    (id..id + 200).for_each(|id| recorder.task_spawned(id, None));
    while has_filled() {
        assert!(since.elapsed() < Duration::from_secs(60), "it was never collected");
        std::thread::sleep(Duration::from_millis(1));
    }
    recorder.stop();
}

#[test]
fn without_locks_that_a_fork_left_there_is_no_exchange() {
    let recorder = Recorder::new(config(Keep::Last));
    assert!(recorder.kept.is_free());
    let _thread = recorder.new_thread_recorder();
    assert!(recorder.kept.is_free());
    let store = recorder.kept.store();
    assert!(!recorder.kept.is_free());
    drop(store);
    let windows = recorder.kept.windows();
    assert!(!recorder.kept.is_free());
    drop(windows);
    let late = recorder.kept.current.lock_late(|| false).expect("it is free");
    assert!(!recorder.kept.is_free());
    // A hook doesn't wait for it in the child of a fork.
    assert!(recorder.kept.current.lock_late(|| true).is_none());
    drop(late);
    assert!(recorder.kept.current.lock_late(|| true).is_some());
    assert!(recorder.kept.is_free());
}
