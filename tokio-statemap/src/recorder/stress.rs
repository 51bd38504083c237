//! Everything at once: workers, threads that end, snapshots, drains, summaries, and recording that stops and starts. At
//! the end, the account is exact.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::Scope;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::task::yield_now;

use super::*;
use crate::config::Keep;
use crate::hooks::{Hooks, install};
use crate::trace::event::Event;
use crate::trace::snapshot::Snapshot;
use crate::trace::timeline::Timeline;
use crate::util::sync::lock;

/// The number of plain threads that emit at a time, and of those that follow each other.
const THREADS: u64 = 3;
const PARTS: u64 = 20;
const EVENTS: u64 = 300;
/// The tasks of the runtime.
const TASKS: u64 = 30;
const YIELDS: u64 = 200;
/// Ids of tasks that Tokio doesn't give out.
const FIRST_ID: u64 = 1 << 40;

fn config(keep: Keep) -> CollectorConfig {
    CollectorConfig { keep, max_events: 1000, buffer_capacity: 64, ..CollectorConfig::default() }
}

/// The records that were seen.
#[derive(Default)]
struct Seen {
    drained: u64,
    /// The tasks in the summaries that were reset.
    tasks: u64,
    /// The tasks of `THREADS` threads that were drained.
    ids: HashSet<u64>,
}

impl Seen {
    fn drain(&mut self, recorder: &Recorder) {
        let events = Snapshot::take(recorder, true).events();
        self.drained += events.len() as u64;
        for event in events {
            if let Event::TaskSpawn { task_id, .. } = event {
                assert!(self.ids.insert(task_id), "{task_id} was drained before");
            }
        }
    }

    fn reset(&mut self, recorder: &Recorder) {
        self.tasks += tasks(&Snapshot::take_and_reset_sums(recorder));
    }
}

fn tasks(snapshot: &Snapshot) -> u64 {
    snapshot.sums().rows.iter().map(|row| row.tasks).sum()
}

/// Starts a thread that does something again and again until all has ended.
fn until<'scope>(
    scope: &'scope Scope<'scope, '_>,
    ended: &'scope AtomicBool,
    mut act: impl FnMut() + Send + 'scope,
) {
    scope.spawn(move || {
        while !ended.load(Ordering::SeqCst) {
            act();
            std::thread::yield_now();
        }
    });
}

/// Tasks that yield.
async fn yield_all() {
    let yields = |_| {
        tokio::spawn(async {
            for _ in 0..YIELDS {
                yield_now().await;
            }
        })
    };
    for task in (0..TASKS).map(yields).collect::<Vec<_>>() {
        task.await.expect("it ends");
    }
}

/// Runs a program while others look. Returns how many events it emitted, and how many tasks it spawned, recorded or
/// not.
fn run(recorder: &Recorder, seen: &Mutex<Seen>, stops: bool) -> (u64, u64) {
    let [events, spawned] = [(), ()].map(|()| Arc::new(AtomicU64::new(0)));
    macro_rules! count {
        ($hook:ident, $hooks:expr, ($($meta:ident)?)) => {{
            let events = Arc::clone(&events);
            $hooks.$hook(move |$($meta)?| _ = events.fetch_add(1, Ordering::Relaxed))
        }};
    }
    let hooks = count!(on_thread_start, Hooks::new(), ());
    let hooks = count!(on_thread_stop, hooks, ());
    let hooks = count!(on_thread_park, hooks, ());
    let hooks = count!(on_thread_unpark, hooks, ());
    let hooks = count!(on_task_spawn, hooks, (_meta));
    let hooks = count!(on_before_task_poll, hooks, (_meta));
    let hooks = count!(on_after_task_poll, hooks, (_meta));
    let hooks = count!(on_task_terminate, hooks, (_meta));
    let mut builder = Builder::new_multi_thread();
    install(builder.worker_threads(2), hooks, Some(TokioHooks::new(recorder)));
    recorder.start();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let emitters: Vec<_> = (0..THREADS)
            .map(|number| {
                let (events, spawned) = (&events, &spawned);
                scope.spawn(move || {
                    for part in number * PARTS..(number + 1) * PARTS {
                        let first = FIRST_ID + part * EVENTS;
                        let emits = || {
                            (first..first + EVENTS).for_each(|id| recorder.task_spawned(id, None))
                        };
                        std::thread::scope(|scope| _ = scope.spawn(emits));
                        events.fetch_add(EVENTS, Ordering::Relaxed);
                        spawned.fetch_add(EVENTS, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let ended = &ended;
        until(scope, ended, || lock(seen).drain(recorder));
        until(scope, ended, || lock(seen).reset(recorder));
        until(scope, ended, || {
            let snapshot = Snapshot::take(recorder, false);
            assert!(snapshot.events().len() <= recorder.kept.config.max_events);
            drop(Timeline::from_snapshot(&snapshot));
        });
        until(scope, ended, || _ = recorder.kept.collect());
        if stops {
            until(scope, ended, || {
                recorder.stop();
                recorder.start();
                std::thread::sleep(Duration::from_micros(500));
            });
        }
        // With a runtime, not only tasks are spawned, and it isn't known how many of its events were dropped.
        let runtime = (!stops).then(|| builder.build().expect("a runtime"));
        if let Some(runtime) = runtime {
            runtime.block_on(yield_all());
            spawned.fetch_add(TASKS, Ordering::Relaxed);
        }
        let panicked = emitters.into_iter().filter_map(|thread| thread.join().err()).last();
        ended.store(true, Ordering::SeqCst);
        if let Some(panic) = panicked {
            std::panic::resume_unwind(panic);
        }
    });
    recorder.stop();
    (events.load(Ordering::Relaxed), spawned.load(Ordering::Relaxed))
}

#[test]
fn each_event_is_drained_or_kept_or_lost() {
    for keep in [Keep::First, Keep::Last] {
        let recorder = Recorder::new(config(keep));
        let seen = Mutex::default();
        let (emitted, spawned) = run(&recorder, &seen, false);
        let kept = Snapshot::take(&recorder, false);
        let mut seen = seen.into_inner().expect("nobody panicked");
        let all = seen.drained + kept.events().len() as u64 + kept.capture.lost.total();
        assert_eq!(all, emitted, "{keep:?}");
        if keep == Keep::Last {
            assert_eq!(seen.tasks + tasks(&kept), spawned, "each task is in one summary");
        }
        seen.drain(&recorder);
        assert_eq!(seen.drained + Snapshot::take(&recorder, false).capture.lost.total(), emitted);
    }
}

#[test]
fn whatever_is_recorded_between_stops_is_accounted_for() {
    // A run in which nothing is recorded proves nothing: the thread that stops and starts may have lost its processor
    // in between.
    let is_any = (0..100).any(|_| recorded_between_stops() > 0);
    assert!(is_any, "nothing was recorded in 100 runs");
}

/// Returns how many events were recorded in a run with stops. All of them are accounted for.
fn recorded_between_stops() -> u64 {
    let recorder = Recorder::new(config(Keep::Last));
    let seen = Mutex::default();
    let (_, spawned) = run(&recorder, &seen, true);
    let kept = Snapshot::take(&recorder, false);
    let seen = seen.into_inner().expect("nobody panicked");
    let recorded = seen.drained + kept.events().len() as u64 + kept.capture.lost.total();
    assert!(recorded <= spawned, "{recorded} of {spawned}");
    assert_eq!(seen.tasks + tasks(&kept), recorded, "each of them is in one summary");
    recorded
}
