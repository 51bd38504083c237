//! On each kind of runtime.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::{LocalSet, block_in_place};
use tokio_statemap::timeline::{TaskKey, Waiting};
use tokio_statemap::{Collector, CollectorConfig, register_hooks};

use crate::shadow::{Shadow, found, found_in};

pub(crate) type Shape = fn(Shadow) -> Pin<Box<dyn Future<Output = ()> + Send>>;

pub(crate) fn runtime(mut builder: Builder) -> (Arc<Collector>, Runtime) {
    let collector = register_hooks(builder.enable_all(), CollectorConfig::default()).unwrap();
    collector.start();
    (collector, builder.build().unwrap())
}

pub(crate) fn of_threads(threads: usize) -> Builder {
    match threads {
        0 => Builder::new_current_thread(),
        _ => {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(threads);
            builder
        }
    }
}

/// Spawns each of `shapes`, and compares what is found once all of them wait.
pub(crate) fn check_all(shapes: &[(&'static str, Shape)]) {
    for threads in [0, 2] {
        let (collector, runtime) = runtime(of_threads(threads));
        let task = |&(name, shape): &(&'static str, Shape)| {
            let shadow = Shadow::default();
            let _guard = runtime.enter();
            let task = tokio_statemap::spawn(shape(shadow.clone()));
            (name, shadow, TaskKey::Spawned(task.id().to_string().parse().unwrap()))
        };
        let tasks: Vec<_> = shapes.iter().map(task).collect();
        // Long enough for what they do before.
        collector
            .block_on(&runtime, async { tokio::time::sleep(Duration::from_millis(300)).await });
        let timeline = collector.snapshot();
        let differs = tasks.iter().filter_map(|(name, shadow, key)| {
            let task = timeline.tasks.iter().find(|task| task.key == *key).unwrap();
            let (found, expected) = (found(&timeline, task), shadow.text());
            (found != expected)
                .then(|| format!("{name}\n  found    {found}\n  expected {expected}"))
        });
        let differs: Vec<_> = differs.collect();
        assert!(differs.is_empty(), "{threads} threads:\n{}", differs.join("\n"));
        runtime.shutdown_background();
    }
}

async fn naps(up: Shadow) {
    let frame = up.enter("naps");
    let line = line!() + 2;
    frame.waits(line, "Sleep");
    tokio::time::sleep(Duration::from_secs(1000)).await;
}

#[test]
fn a_local_set_has_trees_of_its_tasks() {
    let (collector, runtime) = runtime(Builder::new_current_thread());
    let (main, local) = (Shadow::default(), Shadow::default());
    let (of_main, of_local) = (main.clone(), local.clone());
    let set = LocalSet::new();
    collector.block_on(
        &runtime,
        set.run_until(async {
            let named = tokio_statemap::task::Builder::new().name("local");
            let task = named.spawn_local(naps(of_local)).unwrap();
            let timeout = tokio::time::timeout(Duration::from_millis(50), naps(of_main)).await;
            assert!(timeout.is_err());
            let timeline = tokio_statemap::current().unwrap().snapshot();
            let [seen] = &timeline.local_tasks[..] else { panic!("{:?}", timeline.local_tasks) };
            assert_eq!(seen.id.to_string(), task.id().to_string());
            assert_eq!((seen.polled_in, seen.name.as_deref()), (TaskKey::Root(0), Some("local")));
            assert!(seen.location.to_string().contains("waits/runtimes.rs"));
            assert!(seen.waits_since_ns <= timeline.end_ns);
            let Waiting::At(wait) = timeline.waiting_of_local(seen) else { panic!("{seen:?}") };
            assert_eq!(found_in(&wait.frames), local.text());
        }),
    );
}

#[test]
fn root_futures_and_two_runtimes_are_kept_apart() {
    let (first, runtime_1) = runtime(of_threads(0));
    let (second, runtime_2) = runtime(of_threads(1));
    let (inner, outer) = (Shadow::default(), Shadow::default());
    let spawned = inner.clone();
    let _guard = runtime_2.enter();
    tokio_statemap::spawn(naps(spawned));
    drop(_guard);
    let of_root = outer.clone();
    let seen = std::thread::scope(|scope| {
        let seen = scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(150));
            (first.snapshot(), second.snapshot())
        });
        let root = async move {
            let wait = naps(of_root);
            let _ = tokio::time::timeout(Duration::from_millis(400), wait).await;
        };
        first.block_on(&runtime_1, root);
        seen.join().unwrap()
    });
    let (of_first, of_second) = seen;
    let root = &of_first.tasks[0];
    // It has ended since, so that its shadow has no frames any more.
    let found_root = found(&of_first, root);
    assert!(found_root.contains("Timeout(naps:") && found_root.contains("(Sleep)"), "{found_root}");
    assert_eq!(of_first.tasks.len(), 1);
    let [task] = &of_second.tasks[..] else { panic!("{:?}", of_second.tasks.len()) };
    assert_eq!(found(&of_second, task), inner.text());
    runtime_2.shutdown_background();
}

#[test]
fn a_runtime_within_a_poll_leaves_the_outer_chain() {
    let (collector, runtime) = runtime(of_threads(2));
    let shadow = Shadow::default();
    let up = shadow.clone();
    let key = collector.block_on(&runtime, async move {
        let task = tokio_statemap::spawn(async move {
            // As in other tests the block has the name of this function.
            block_in_place(|| {
                let other = Builder::new_current_thread().enable_all().build().unwrap();
                other.block_on(tokio::time::sleep(Duration::from_millis(1)));
            });
            naps(up).await;
        });
        tokio::time::sleep(Duration::from_millis(200)).await;
        TaskKey::Spawned(task.id().to_string().parse().unwrap())
    });
    let timeline = collector.snapshot();
    let task = timeline.tasks.iter().find(|task| task.key == key).unwrap();
    let found = found(&timeline, task);
    assert!(found.ends_with(&format!("({})", shadow.text())), "{found}");
    runtime.shutdown_background();
}
