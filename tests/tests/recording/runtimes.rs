//! The events of several runtimes are never mixed, whether they run one after the other, nested, or in parallel.
#![cfg(tokio_unstable)]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tests::first_issue::long_polls;
use tests::runtime::{builder, recorded};
use tokio::runtime::Runtime;
use tokio::task::yield_now;
use tokio_statemap::timeline::TaskKey;
use tokio_statemap::{Collector, CollectorConfig, Hooks, Timeline, register_hooks_with};

fn runtime(workers: usize) -> (Arc<Collector>, Runtime) {
    recorded(builder(workers), CollectorConfig::default())
}

/// Spawns `tasks` tasks of three polls each, and returns their ids.
async fn spawn(tasks: usize) -> BTreeSet<u64> {
    let mut ids = BTreeSet::new();
    for _ in 0..tasks {
        let task = tokio::spawn(async {
            yield_now().await;
            yield_now().await;
        });
        ids.insert(task.id().to_string().parse().unwrap());
        task.await.unwrap();
    }
    ids
}

/// Asserts that the timeline has `main` and these tasks, with all their polls.
fn check(timeline: &Timeline, expected: &BTreeSet<u64>) {
    let ids: BTreeSet<u64> = timeline
        .tasks
        .iter()
        .filter_map(|task| match task.key {
            TaskKey::Spawned(id) => Some(id),
            TaskKey::Root(_) => None,
        })
        .collect();
    assert_eq!(ids, *expected);
    assert_eq!(timeline.tasks[0].key, TaskKey::Root(0));
    for task in &timeline.tasks[1..] {
        assert_eq!(task.polls.len(), 3);
        assert_eq!(task.parent, Some(TaskKey::Root(0)));
        assert!(task.spawned_ns.is_some());
    }
}

#[test]
fn runtimes_may_take_turns_on_one_thread() {
    for _ in 0..20 {
        let (first, runtime_1) = runtime(0);
        let (second, runtime_2) = runtime(0);
        let ids_1 = first.block_on(&runtime_1, spawn(5));
        let ids_2 = second.block_on(&runtime_2, spawn(7));
        let ids_3 = first.block_on(&runtime_1, spawn(3));
        check(&first.snapshot(), &ids_1.union(&ids_3).copied().collect());
        check(&second.snapshot(), &ids_2);
        drop((runtime_1, runtime_2));
    }
}

#[test]
fn a_nested_runtime_has_its_own_tasks() {
    let (outer, outer_runtime) = runtime(2);
    let (inner, ids, inner_ids) = outer.block_on(&outer_runtime, async {
        let mut ids = spawn(10).await;
        let nested = tokio::task::spawn_blocking(|| {
            let (inner, inner_runtime) = runtime(0);
            let ids = inner.block_on(&inner_runtime, spawn(10));
            drop(inner_runtime);
            (inner, ids)
        });
        let (inner, inner_ids) = nested.await.unwrap();
        ids.extend(spawn(10).await);
        (inner, ids, inner_ids)
    });
    drop(outer_runtime);
    check(&outer.snapshot(), &ids);
    check(&inner.snapshot(), &inner_ids);
}

#[test]
fn parallel_runtimes_have_their_own_tasks() {
    let threads = (0..4).map(|i| {
        std::thread::spawn(move || {
            let (collector, runtime) = runtime(i % 2 * 2);
            let ids = collector.block_on(&runtime, spawn(300));
            drop(runtime);
            check(&collector.snapshot(), &ids);
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().unwrap();
    }
}

/// A task that is spawned from another runtime has no parent.
#[test]
fn a_task_belongs_to_the_runtime_that_runs_it() {
    let (one, runtime_1) = runtime(0);
    let (other, runtime_2) = runtime(2);
    let handle = runtime_2.handle().clone();
    one.block_on(&runtime_1, async {
        tokio::spawn(async move { handle.spawn(async {}).await.unwrap() }).await.unwrap();
    });
    drop((runtime_1, runtime_2));
    let (one, other) = (one.snapshot(), other.snapshot());
    assert_eq!((one.tasks.len(), other.tasks.len()), (2, 1));
    assert_eq!(other.tasks[0].parent, None);
    assert!(other.tasks[0].polls.iter().all(|poll| poll.worker().is_some()));
    // The spawning thread isn't one of its workers, and takes no worker's number.
    assert!(other.workers.iter().all(|worker| worker.transitions.len() > 1));
}

#[test]
fn current_is_the_collector_of_the_current_runtime() {
    assert!(tokio_statemap::current().is_none());
    let (one, runtime_1) = runtime(0);
    let (other, runtime_2) = runtime(2);
    let tasks = |collector: &Collector| collector.snapshot().tasks.len();
    one.block_on(&runtime_1, async {
        spawn(3).await;
        assert_eq!(tasks(&tokio_statemap::current().unwrap()), 4);
    });
    other.block_on(&runtime_2, async {
        tokio::spawn(async { assert!(tokio_statemap::current().is_some()) }).await.unwrap();
        assert_eq!(tasks(&tokio_statemap::current().unwrap()), 2);
    });
    let plain = builder(0).build().unwrap();
    plain.block_on(async { assert!(tokio_statemap::current().is_none()) });
}

#[test]
fn a_named_runtime_names_its_rows() {
    let mut builder = builder(1);
    builder.name("api");
    let (collector, runtime) = recorded(builder, CollectorConfig::default());
    collector.block_on(&runtime, spawn(1));
    drop(runtime);
    let timeline = collector.snapshot();
    assert_eq!(timeline.runtime.as_deref(), Some("api"));
    let data = timeline.to_data();
    let tasks = tests::check::check(&data.tasks_to_bytes().unwrap()).unwrap();
    assert!(tasks.entities.contains_key("api/main"));
    assert!(tasks.entities.keys().all(|name| name.starts_with("api/")));
    let workers = tests::check::check(&data.workers_to_bytes().unwrap()).unwrap();
    assert!(workers.entities.contains_key("api/worker-0"));
}

#[test]
fn hooks_are_called_in_order_beside_those_that_record() {
    use std::sync::Mutex;
    let calls: Arc<Mutex<Vec<&str>>> = Arc::default();
    let log = |what| {
        let calls = Arc::clone(&calls);
        move |_: &tokio::runtime::TaskMeta<'_>| calls.lock().unwrap().push(what)
    };
    let hooks = Hooks::new()
        .on_task_spawn(log("spawn 1"))
        .on_task_spawn(log("spawn 2"))
        .on_before_task_poll(log("before"))
        .on_after_task_poll(log("after"))
        .on_task_terminate(log("terminate"));
    let mut builder = builder(0);
    let collector = register_hooks_with(&mut builder, CollectorConfig::default(), hooks).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    collector.block_on(&runtime, async { tokio::spawn(async {}).await.unwrap() });
    assert_eq!(*calls.lock().unwrap(), ["spawn 1", "spawn 2", "before", "terminate", "after"]);
    assert_eq!(collector.snapshot().tasks.len(), 2);
}

/// Two hundred tests under the attribute, in parallel, as in a test suite.
mod two_hundred_tests {
    use tests::files::NULL_DEVICE;

    /// Spawns a number of tasks, and asserts that only these are recorded.
    async fn body(tasks: usize) {
        let ids = super::spawn(tasks).await;
        super::check(&tokio_statemap::current().unwrap().snapshot(), &ids);
    }

    macro_rules! tests {
        ($($module:ident: $($name:ident = $tasks:expr),*;)*) => {
            $(mod $module { $(
                #[tokio_statemap::test(report = super::NULL_DEVICE)]
                async fn $name() {
                    super::body($tasks).await;
                }

                mod $name {
                    #[tokio_statemap::test(
                        flavor = "multi_thread",
                        worker_threads = 2,
                        report = super::super::NULL_DEVICE,
                    )]
                    async fn multi_thread() {
                        super::super::body($tasks + 1).await;
                    }
                }
            )* })*
        };
    }

    macro_rules! ten_each {
        ($($module:ident)*) => {
            tests!($($module: a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10;)*);
        };
    }

    ten_each!(t0 t1 t2 t3 t4 t5 t6 t7 t8 t9);
}

/// Waits until each worker of the current runtime polls a task, so that another thread has replaced the caller.
fn wait_until_all_workers_poll() {
    let handle = tokio::runtime::Handle::current();
    let workers = handle.metrics().num_workers();
    // The number of tasks that are polled, until it was that of the workers.
    let polled = Arc::new(AtomicUsize::new(0));
    let poll = move |polled: &AtomicUsize| {
        polled.fetch_add(1, Ordering::SeqCst);
        let until = Instant::now() + Duration::from_millis(100);
        while polled.load(Ordering::SeqCst) < workers {
            // A worker may take two of them from Tokio's queue at once, and then no other is woken for the second one.
            if Instant::now() >= until {
                polled.fetch_sub(1, Ordering::SeqCst);
                return;
            }
            std::thread::sleep(Duration::from_micros(100));
        }
    };
    let mut rounds = 0_u32;
    while polled.load(Ordering::SeqCst) < workers {
        // Again after the others have given up.
        if rounds % 500 == 0 {
            for _ in 0..workers {
                let polled = Arc::clone(&polled);
                handle.spawn(async move { poll(&polled) });
            }
        }
        rounds += 1;
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// Calls `block_in_place` on a worker of `runtime`, and `f` in it once another thread is the worker.
fn in_place_of_a_worker<R: Send + 'static>(
    runtime: &Runtime,
    f: impl FnOnce() -> R + Send + 'static,
) -> R {
    let blocks = runtime.spawn(async move {
        tokio::task::block_in_place(|| {
            wait_until_all_workers_poll();
            f()
        })
    });
    runtime.block_on(blocks).unwrap()
}

/// A root future isn't on a worker of another runtime, nor on one of its own that has moved to another thread.
#[test]
fn a_root_in_place_of_a_worker_is_on_none_of_them() {
    for inner_flavor in ["multi_thread", "current_thread", "the same"] {
        let (outer, outer_runtime) = runtime(2);
        let outer_runtime = Arc::new(outer_runtime);
        let (inner, inner_runtime) = match inner_flavor {
            "the same" => (Arc::clone(&outer), Arc::clone(&outer_runtime)),
            _ => {
                let workers = if inner_flavor == "current_thread" { 0 } else { 2 };
                let (inner, inner_runtime) = runtime(workers);
                (inner, Arc::new(inner_runtime))
            }
        };
        let (collector, on) = (Arc::clone(&inner), Arc::clone(&inner_runtime));
        in_place_of_a_worker(&outer_runtime, move || {
            collector.block_on(&on, async {
                yield_now().await;
                std::thread::sleep(Duration::from_millis(5));
            });
        });
        let timeline = inner.snapshot();
        let main = &timeline.tasks[0];
        let expected = if inner_flavor == "current_thread" { Some(0) } else { None };
        assert!(main.polls.len() > 1);
        for poll in &main.polls {
            assert_eq!(poll.worker(), expected, "{inner_flavor}");
        }
    }
}

/// If several threads are in `block_on` of a `current_thread` runtime, one of them is the worker.
#[test]
fn a_root_without_the_core_is_on_no_worker() {
    // `block_on` is called inside `block_in_place` of another runtime's worker, or not.
    for nested in [false, true] {
        let outer = builder(1).build().unwrap();
        let (collector, runtime) = runtime(0);
        let runtime = Arc::new(runtime);
        let block_on = {
            let (collector, runtime) = (Arc::clone(&collector), Arc::clone(&runtime));
            move || {
                // This thread was the worker.
                collector.block_on(&runtime, yield_now());
                let (go, closed) = std::sync::mpsc::channel::<()>();
                let (end, ended) = tokio::sync::oneshot::channel::<()>();
                let has_core = {
                    let (collector, runtime) = (Arc::clone(&collector), Arc::clone(&runtime));
                    std::thread::spawn(move || {
                        collector.block_on(&runtime, async {
                            drop(go);
                            ended.await.unwrap();
                        });
                    })
                };
                closed.recv().unwrap_err();
                collector.block_on(&runtime, async {
                    yield_now().await;
                    std::thread::sleep(Duration::from_millis(5));
                });
                end.send(()).unwrap();
                has_core.join().unwrap();
            }
        };
        match nested {
            true => in_place_of_a_worker(&outer, block_on),
            false => block_on(),
        }
        let timeline = collector.snapshot();
        let [first, second] = &timeline.tasks[..] else { panic!("{:?}", timeline.tasks) };
        // The first root starts first, so its thread is the worker.
        let had = first.polls.iter().filter(|poll| poll.worker() == Some(0)).count();
        assert_eq!(had, first.polls.len());
        assert!(second.polls.len() > 1);
        assert!(second.polls.iter().all(|p| p.worker().is_none()), "{nested}: {:?}", second.polls);
        let report = timeline.report();
        let longest = report.longest_polls.iter().find(|poll| poll.task == second.key);
        assert_eq!(longest.map(|poll| poll.worker), Some(None), "{report}");
        if let Some((culprit, _)) = long_polls(&report) {
            assert_ne!(culprit.longest.task, second.key, "{report}");
        }
    }
}
