//! What isn't certain is not told.

use std::sync::Arc;

use tests::runtime::builder;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_statemap::timeline::Timeline;
use tokio_statemap::{Collector, CollectorConfig, Hooks, WokenBy, register_hooks_with};

use super::{MAIN, by, spawn_that_waits, wakes};

/// Registers the hooks of a runtime, which doesn't record yet.
fn registered(workers: usize, config: CollectorConfig) -> (Arc<Collector>, Runtime) {
    let mut builder = builder(workers);
    let collector = register_hooks_with(builder.enable_all(), config, Hooks::new()).unwrap();
    (collector, builder.build().unwrap())
}

fn recorded(workers: usize) -> (Arc<Collector>, Runtime) {
    let (collector, runtime) = registered(workers, CollectorConfig::default());
    collector.start();
    (collector, runtime)
}

/// Waits for the task, and ends the recording.
fn ended(collector: &Collector, runtime: Runtime, task: JoinHandle<()>) -> Timeline {
    runtime.block_on(task).unwrap();
    drop(runtime);
    collector.stop();
    collector.snapshot()
}

#[test]
fn a_root_future_of_another_runtime() {
    let ((jobs, runtime), (api, other)) = (recorded(1), recorded(1));
    let (send, task) = runtime.block_on(spawn_that_waits());
    let (from_task, second) = runtime.block_on(spawn_that_waits());
    let handle = runtime.handle().clone();
    let (spawned, sender) = api.block_on(&other, async move {
        send.send(()).unwrap();
        let sender = tokio::spawn(async move { from_task.send(()).unwrap() });
        let id = sender.id();
        sender.await.unwrap();
        (handle.spawn(async {}), id)
    });
    let ids = (task.id(), second.id(), spawned.id());
    runtime.block_on(async {
        spawned.await.unwrap();
        second.await.unwrap();
    });
    let timeline = ended(&jobs, runtime, task);
    assert_eq!(wakes(&timeline, ids.0)[1], None);
    assert_eq!(wakes(&timeline, ids.2), [None]);
    // Ids of tasks are of the whole process.
    assert_eq!(wakes(&timeline, ids.1)[1], by(sender));
}

#[test]
fn a_poll_that_began_before_the_recording() {
    // Others may wake at the same time, so it may be unknown once.
    const TRIES: usize = 5;
    for workers in [0, 1] {
        assert!((0..TRIES).any(|_| is_known_to_be_main(workers)), "{workers} workers");
    }
}

/// Returns whether it is known who woke a task from the root future, whose poll began before the recording.
fn is_known_to_be_main(workers: usize) -> bool {
    let (collector, runtime) = registered(workers, CollectorConfig::default());
    let starts = Arc::clone(&collector);
    let (starter, by_task, by_main) = collector.block_on(&runtime, async move {
        let (send, by_task) = spawn_that_waits().await;
        let (from_main, by_main) = spawn_that_waits().await;
        let records = Arc::clone(&starts);
        let starter = tokio::spawn(async move {
            records.start();
            send.send(()).unwrap();
        });
        let (starter_id, by_task_id) = (starter.id(), by_task.id());
        starter.await.unwrap();
        // A worker may poll it later than this goes on.
        by_task.await.unwrap();
        starts.stop();
        // The wrapper of a recorded root future is there all the time.
        starts.start();
        from_main.send(()).unwrap();
        let ids = (starter_id, by_task_id, by_main.id());
        by_main.await.unwrap();
        ids
    });
    drop(runtime);
    collector.stop();
    let timeline = collector.snapshot();
    // Where another test records meanwhile, hooks told of that poll.
    // The poll in which a task ends may end after main goes on, and so be in both windows.
    let woken = wakes(&timeline, by_task);
    assert!(woken[0].is_none() || woken[0] == by(starter), "{woken:?}");
    assert!(woken[1..].iter().all(Option::is_none), "{woken:?}");
    let woken = wakes(&timeline, by_main);
    assert!(woken == [None] || woken == [MAIN], "{woken:?}");
    woken == [MAIN]
}

#[test]
fn a_block_on_that_is_not_recorded() {
    for workers in [0, 1] {
        let (collector, runtime) = recorded(workers);
        let (task, id) = runtime.block_on(async {
            let (send, task) = spawn_that_waits().await;
            send.send(()).unwrap();
            let id = task.id();
            (task, id)
        });
        let timeline = ended(&collector, runtime, task);
        assert_eq!(wakes(&timeline, id), [None, None], "{workers} workers");
    }
}

#[test]
fn a_runtime_without_hooks_in_a_blocking_task() {
    let (collector, runtime) = recorded(1);
    let (send, task) = runtime.block_on(spawn_that_waits());
    let id = task.id();
    let closure = runtime.spawn_blocking(|| {
        let other = tokio::runtime::Builder::new_current_thread().build().unwrap();
        other.block_on(async { tokio::spawn(async { send.send(()).unwrap() }).await.unwrap() });
    });
    runtime.block_on(closure).unwrap();
    let timeline = ended(&collector, runtime, task);
    assert_eq!(wakes(&timeline, id)[1], None);
}

#[test]
fn a_runtime_whose_wakes_are_not_seen() {
    let (collector, runtime) = recorded(1);
    let (blind, other) =
        registered(1, CollectorConfig { wakes: false, ..CollectorConfig::default() });
    blind.start();
    let (send, task) = runtime.block_on(spawn_that_waits());
    let id = task.id();
    let sender = other.spawn(async {
        tokio::task::yield_now().await;
        send.send(()).unwrap();
    });
    other.block_on(sender).unwrap();
    let timeline = ended(&collector, runtime, task);
    assert_eq!(wakes(&timeline, id)[1], None);
}

/// A thread is one of no runtime again once it is out of it.
#[test]
fn the_main_thread_between_two_runs() {
    let (collector, runtime) = recorded(0);
    let (send, task) = collector.block_on(&runtime, spawn_that_waits());
    send.send(()).unwrap();
    let id = task.id();
    let timeline = ended(&collector, runtime, task);
    assert_eq!(wakes(&timeline, id), [MAIN, Some(WokenBy::Thread)]);
}

#[test]
fn a_panic_in_a_poll() {
    for workers in [0, 1] {
        let (collector, runtime) = recorded(workers);
        let (task, panics) = collector.block_on(&runtime, async {
            let (send, task) = spawn_that_waits().await;
            let panics = tokio::spawn(async move {
                send.send(()).unwrap();
                panic!("as planned");
            });
            let id = panics.id();
            assert!(panics.await.unwrap_err().is_panic());
            let sleeps = tokio::spawn(async {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            });
            let slept = sleeps.id();
            sleeps.await.unwrap();
            (task, (id, slept))
        });
        let id = task.id();
        let timeline = ended(&collector, runtime, task);
        assert_eq!(wakes(&timeline, id), [MAIN, by(panics.0)]);
        assert_eq!(wakes(&timeline, panics.1), [MAIN, Some(WokenBy::Runtime)]);
    }
}
