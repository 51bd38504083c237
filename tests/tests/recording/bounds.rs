//! No event is lost silently: an emitted event is kept or counted, in every output.
#![cfg(tokio_unstable)]

use std::sync::Arc;
use std::time::Duration;

use tests::check::check;
use tests::load::yields;
use tokio::runtime::Builder;
use tokio::task::yield_now;
use tokio_statemap::timeline::TaskKey;
use tokio_statemap::{
    Collector, CollectorConfig, Event, Hooks, Keep, TaskState, Timeline, register_hooks_with,
};

/// Records `program` on two workers, and counts what it emits with hooks of its own.
fn record<F: Future>(config: CollectorConfig, program: F) -> (Arc<Collector>, u64) {
    use std::sync::atomic::{AtomicU64, Ordering};
    let emitted = Arc::new(AtomicU64::new(0));
    macro_rules! count {
        ($hook:ident, $hooks:expr, ($($meta:ident)?)) => {{
            let emitted = Arc::clone(&emitted);
            $hooks.$hook(move |$($meta)?| { emitted.fetch_add(1, Ordering::Relaxed); })
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
    let collector =
        register_hooks_with(builder.worker_threads(2).enable_all(), config, hooks).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    // Not with `Collector::block_on`: the root future has no hook that could be counted.
    runtime.block_on(program);
    drop(runtime);
    collector.stop();
    (collector, emitted.load(Ordering::Relaxed))
}

/// The report, the data and `lost()` agree.
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
    let (collector, emitted) = record(config, yields(100, 10_000));
    let timeline = collector.snapshot();
    assert_eq!(timeline.lost.total(), 0);
    assert_eq!(timeline.events, emitted);
    let polls: usize = timeline.tasks.iter().map(|task| task.polls.len()).sum();
    assert_eq!(polls, 1_000_000);
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
            let (collector, emitted) = record(config, yields(50, 2000));
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

/// A task spawned long before the first kept record still has a name, a parent and the right state
/// at the left edge.
#[test]
fn the_flight_recorder_keeps_live_tasks() {
    let config = CollectorConfig { max_events: 1000, ..CollectorConfig::default() };
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all();
    let collector = register_hooks_with(&mut builder, config, Hooks::new()).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    let (line, ids, timeline) = collector.block_on(&runtime, async {
        let line = line!() + 1;
        let parent = tokio::spawn(async {
            let sleeps = tokio::spawn(std::future::pending::<()>());
            let (to, from) = std::sync::mpsc::channel::<()>();
            let (began, begun) = tokio::sync::oneshot::channel();
            // A poll that lasts from long before the left edge until the end.
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
    // `main` was recorded, and was waiting for the tasks.
    let main = &timeline.tasks[0];
    assert_eq!(main.key, TaskKey::Root(0));
    assert_eq!(main.location.unwrap().file, file!());
    assert_eq!(main.first_ns, timeline.begin_ns);
    // Few tasks are alive; the thousands that terminated are not kept.
    assert!(timeline.tasks.len() < 100, "{}", timeline.tasks.len());
}

/// Short-lived threads leave few records each; the bounds hold for the sum.
#[test]
fn many_short_threads_stay_within_the_bounds() {
    for keep in [Keep::First, Keep::Last] {
        let config = CollectorConfig { max_events: 1000, keep, ..CollectorConfig::default() };
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).enable_all().thread_keep_alive(Duration::ZERO);
        let collector = register_hooks_with(&mut builder, config, Hooks::new()).unwrap();
        collector.start();
        let runtime = builder.build().unwrap();
        collector.block_on(&runtime, async {
            for _ in 0..1000 {
                tokio::task::spawn_blocking(|| ()).await.unwrap();
                // A snapshot must not change what is kept.
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

/// Calling `lost` while hooks evict: neither waits for the other forever.
#[test]
fn lost_can_be_asked_at_any_time() {
    let config = CollectorConfig { max_events: 1000, ..CollectorConfig::default() };
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2);
    let collector = register_hooks_with(&mut builder, config, Hooks::new()).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    let work = runtime.spawn(yields(10, 20_000));
    let mut before = 0;
    while !work.is_finished() {
        let lost = collector.lost().total();
        assert!(lost >= before, "{lost} after {before}");
        before = lost;
    }
    runtime.block_on(work).unwrap();
}

/// The number of a root future is reused; the one that is running is kept.
#[test]
fn a_second_root_is_kept() {
    let config = CollectorConfig { max_events: 1000, ..CollectorConfig::default() };
    let mut builder = Builder::new_multi_thread();
    let collector = register_hooks_with(builder.worker_threads(1), config, Hooks::new()).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
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

/// A task that terminated in a gap is not among the live tasks.
#[test]
fn a_task_that_terminated_in_a_gap_is_removed() {
    let config =
        CollectorConfig { max_events: 1000, buffer_capacity: 64, ..CollectorConfig::default() };
    let mut builder = Builder::new_current_thread();
    let collector = register_hooks_with(&mut builder, config, Hooks::new()).unwrap();
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

/// Hooks of the program's own don't cause events that are not to be recorded.
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
