//! No event is lost silently: every output keeps or counts each emitted event.
#![cfg(tokio_unstable)]

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tests::check::check;
use tests::load::yields;
use tests::runtime::{builder, counting_hooks, recorded};
use tokio::task::yield_now;
use tokio_statemap::timeline::TaskKey;
use tokio_statemap::{
    Collector, CollectorConfig, Event, Keep, TaskState, Timeline, register_hooks,
    register_hooks_with,
};

/// Records `program` on two workers. Also returns the number of emitted events, which other hooks count.
fn record<F: Future>(config: CollectorConfig, program: F) -> (Arc<Collector>, u64) {
    let (hooks, emitted) = counting_hooks();
    let mut builder = builder(2);
    let collector = register_hooks_with(builder.enable_all(), config, hooks).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    // `Collector::block_on` would record the root future, which the hooks can't count.
    runtime.block_on(program);
    drop(runtime);
    collector.stop();
    (collector, emitted.load(Ordering::Relaxed))
}

/// Asserts that the report, the data and `lost()` agree.
fn check_outputs(timeline: &Timeline, collector: &Collector) {
    assert_eq!(timeline.lost, collector.lost());
    let report = timeline.report().to_string();
    let lost = timeline.lost.total().to_string();
    let digits: String = report.chars().filter(|c| !",_ \n".contains(*c)).collect();
    if timeline.lost.total() > 0 {
        assert!(digits.contains(&lost), "{lost} not in:\n{report}");
    }
    let data = timeline.clone().to_data();
    let tasks = check(&data.tasks_to_bytes().unwrap()).unwrap();
    check(&data.workers_to_bytes().unwrap()).unwrap();
    assert_eq!(tasks.title.contains(&lost), timeline.lost.total() > 0, "{}", tasks.title);
    let polls: usize = timeline.tasks.iter().map(|task| task.polls.len()).sum();
    let shown: usize = tasks.entities.keys().map(|name| tasks.entries(name, "running")).sum();
    assert_eq!(shown, polls);
}

#[test]
fn a_small_buffer_loses_nothing() {
    let config = CollectorConfig {
        buffer_capacity: 64,
        max_events: 10_000_000,
        ..CollectorConfig::default()
    };
    let (collector, emitted) = record(config, yields(100, 2000));
    let timeline = collector.snapshot();
    assert_eq!(timeline.lost.total(), 0);
    assert_eq!(timeline.events, emitted);
    let polls: usize = timeline.tasks.iter().map(|task| task.polls.len()).sum();
    assert_eq!(polls, 200_000);
}

#[test]
fn a_thousand_are_kept_and_the_rest_is_counted() {
    for keep in [Keep::First, Keep::Last] {
        for buffer_capacity in [1, 64, 4096] {
            let config = CollectorConfig {
                buffer_capacity,
                max_events: 1000,
                keep,
                ..CollectorConfig::default()
            };
            let (collector, emitted) = record(config, yields(50, 500));
            let timeline = collector.snapshot();
            let lost = timeline.lost;
            assert_eq!(timeline.events, 1000, "{keep:?} {buffer_capacity}");
            assert_eq!(timeline.events + lost.total(), emitted, "{keep:?} {buffer_capacity}");
            match keep {
                Keep::First => assert_eq!(lost.refused_events, lost.total()),
                Keep::Last => assert_eq!(lost.dropped_events, lost.total()),
            }
            check_outputs(&timeline, &collector);
            // A snapshot removes nothing; a drain returns the same.
            assert_eq!(collector.snapshot().events, 1000);
            let events = collector.drain_events();
            assert_eq!(events.len(), 1000);
            assert_eq!(collector.lost().total() + 1000, emitted);
            assert_eq!(collector.snapshot().events, 0);
            assert!(events.is_sorted_by_key(Event::time_ns));
        }
    }
}

#[test]
fn first_keeps_the_oldest_and_last_the_newest() {
    let config = |keep| CollectorConfig { max_events: 1000, keep, ..CollectorConfig::default() };
    let (all, _) = record(config(Keep::First), yields(50, 2000));
    let first = all.snapshot();
    assert_eq!(first.begin_ns, 0);
    assert!(first.tasks.iter().all(|task| task.terminated_ns.is_none()), "none ends so early");
    let (all, _) = record(config(Keep::Last), yields(50, 2000));
    let last = all.snapshot();
    assert!(last.begin_ns > 0);
    assert!(last.tasks.iter().all(|task| task.spawned_ns.is_none()), "none starts so late");
    assert!(last.tasks.iter().any(|task| task.terminated_ns.is_some()));
}

/// A task that was spawned long before the first kept record still has a name, a parent, and the right state at the left
/// edge.
#[test]
fn the_flight_recorder_keeps_live_tasks() {
    let config = CollectorConfig { max_events: 1000, ..CollectorConfig::default() };
    let (collector, runtime) = recorded(builder(2), config);
    let (line, ids, timeline) = collector.block_on(&runtime, async {
        let line = line!() + 1;
        let parent = tokio::spawn(async {
            let sleeps = tokio::spawn(std::future::pending::<()>());
            let (to, from) = std::sync::mpsc::channel::<()>();
            let (began, begun) = tokio::sync::oneshot::channel();
            // This poll lasts from long before the left edge until the end.
            let stuck = tokio::spawn(async move {
                began.send(()).unwrap();
                tokio::task::block_in_place(|| from.recv().unwrap_err());
            });
            begun.await.unwrap();
            let ids = [sleeps.id(), stuck.id(), tokio::task::id()];
            (ids.map(|id| id.to_string().parse::<u64>().unwrap()), to)
        });
        let (ids, to) = parent.await.unwrap();
        for _ in 0..20 {
            yields(10, 100).await;
        }
        let timeline = collector.snapshot();
        drop(to);
        (line, ids, timeline)
    });
    runtime.shutdown_timeout(Duration::from_secs(10));
    assert!(timeline.lost.dropped_events > 10_000);
    assert_eq!(timeline.events, 1000);
    let [sleeps, stuck, parent] = ids;
    let find = |id| timeline.tasks.iter().find(|task| task.key == TaskKey::Spawned(id));
    for (id, line, state) in
        [(sleeps, line + 1, TaskState::Waiting), (stuck, line + 5, TaskState::Running)]
    {
        let task = find(id).expect("it lives");
        assert_eq!(task.location.unwrap().line, line);
        assert_eq!(task.parent, Some(TaskKey::Spawned(parent)));
        assert_eq!((task.first_ns, task.first_state), (timeline.begin_ns, state));
        assert_eq!(task.spawned_ns, None);
    }
    assert_eq!(find(parent), None, "it ended before the left edge");
    // `main` was recorded, too.
    let main = &timeline.tasks[0];
    assert_eq!(main.key, TaskKey::Root(0));
    assert_eq!(main.location.unwrap().file, file!());
    assert_eq!(main.first_ns, timeline.begin_ns);
    // Few tasks are alive; the many that terminated aren't kept.
    assert!(timeline.tasks.len() < 100, "{}", timeline.tasks.len());
}

/// Short-lived threads leave few records each; the bound holds for all of them together.
#[test]
fn many_short_threads_stay_within_the_bounds() {
    for keep in [Keep::First, Keep::Last] {
        let config = CollectorConfig { max_events: 1000, keep, ..CollectorConfig::default() };
        let mut builder = builder(1);
        builder.thread_keep_alive(Duration::ZERO);
        let (collector, runtime) = recorded(builder, config);
        collector.block_on(&runtime, async {
            for _ in 0..1000 {
                tokio::task::spawn_blocking(|| ()).await.unwrap();
                // Asking for the counts must not change what is kept.
                if keep == Keep::First {
                    collector.lost();
                }
            }
        });
        drop(runtime);
        collector.stop();
        let timeline = collector.snapshot();
        assert_eq!(timeline.events, 1000);
        assert!(timeline.lost.total() > 1000, "{:?}", timeline.lost);
        check_outputs(&timeline, &collector);
    }
}

/// Calls of `lost` and hooks that evict don't block each other forever.
#[test]
fn lost_may_be_called_at_any_time() {
    let config = CollectorConfig { max_events: 1000, ..CollectorConfig::default() };
    let (collector, runtime) = recorded(builder(2), config);
    let work = runtime.spawn(yields(10, 20_000));
    let mut before = 0;
    while !work.is_finished() {
        let lost = collector.lost().total();
        assert!(lost >= before, "{lost} after {before}");
        before = lost;
    }
    runtime.block_on(work).unwrap();
}

/// The number of a root future is reused, and the running one is kept.
#[test]
fn a_second_root_is_kept() {
    let config = CollectorConfig { max_events: 1000, ..CollectorConfig::default() };
    let (collector, runtime) = recorded(builder(1), config);
    collector.block_on(&runtime, async {});
    let line = line!() + 1;
    let timeline = collector.block_on(&runtime, async {
        yields(10, 1000).await;
        collector.snapshot()
    });
    let main = &timeline.tasks[0];
    assert_eq!(main.key, TaskKey::Root(0));
    assert_eq!(main.location.unwrap().line, line);
    assert_eq!((main.first_ns, main.terminated_ns), (timeline.begin_ns, None));
}

#[test]
fn a_task_that_terminated_in_a_gap_is_removed() {
    let config =
        CollectorConfig { max_events: 1000, buffer_capacity: 64, ..CollectorConfig::default() };
    let mut builder = builder(0);
    let collector = register_hooks(&mut builder, config).unwrap();
    let runtime = builder.build().unwrap();
    let timeline = collector.block_on(&runtime, async {
        for _ in 0..10 {
            collector.start();
            let tasks: Vec<_> = (0..500).map(|_| tokio::spawn(yield_now())).collect();
            collector.stop();
            for task in tasks {
                task.await.unwrap();
            }
        }
        collector.start();
        yields(2, 3000).await;
        collector.snapshot()
    });
    let live: Vec<_> =
        timeline.tasks.iter().filter(|task| task.terminated_ns.is_none()).map(|t| t.key).collect();
    assert!(live.len() <= 3, "{live:?}");
}

/// The program's own hooks don't cause events that the target excludes.
#[test]
fn own_hooks_do_not_change_what_is_recorded() {
    use tokio_statemap::TraceTarget;
    for (trace_target, has_tasks, has_workers) in [
        (TraceTarget::None, false, false),
        (TraceTarget::Tasks, true, false),
        (TraceTarget::Workers, false, true),
        (TraceTarget::Both, true, true),
    ] {
        let config = CollectorConfig { trace_target, ..CollectorConfig::default() };
        let (collector, _) = record(config, yields(5, 5));
        let timeline = collector.snapshot();
        assert_eq!(!timeline.tasks.is_empty(), has_tasks, "{trace_target:?}");
        assert_eq!(!timeline.workers.is_empty(), has_workers, "{trace_target:?}");
        assert_eq!(timeline.events > 0, has_tasks || has_workers, "{trace_target:?}");
    }
}
