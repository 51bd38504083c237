//! Trees of tasks on each kind of runtime.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tests::runtime::{builder, key, recorded};
use tokio::runtime::Runtime;
use tokio::task::{LocalSet, block_in_place};
use tokio_statemap::timeline::{TaskKey, Waiting};
use tokio_statemap::{Collector, CollectorConfig, Timeline};

use super::shadow::{Shadow, found, found_in};

pub(crate) type Shape = fn(Shadow) -> Pin<Box<dyn Future<Output = ()> + Send>>;

/// `true` where the crate sees the wakers of all tasks.
const SEES_WAKERS: bool =
    cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")));

pub(crate) fn runtime(workers: usize) -> (Arc<Collector>, Runtime) {
    recorded(builder(workers), CollectorConfig::default())
}

/// Takes snapshots until one is as expected and no task was polled since the one before, and returns it. On a busy machine
/// it takes a while until all tasks wait; after half a minute it returns the last snapshot.
pub(crate) fn settled(
    collector: &Arc<Collector>,
    runtime: &Runtime,
    is_as_expected: impl Fn(&Timeline) -> bool,
) -> Timeline {
    const STEP: Duration = Duration::from_millis(25);
    let began = Instant::now();
    let polls = |timeline: &Timeline| {
        let spawned = timeline.tasks.iter().filter(|task| !matches!(task.key, TaskKey::Root(_)));
        spawned.map(|task| task.polls.len()).collect::<Vec<_>>()
    };
    let mut before = Vec::new();
    loop {
        collector.block_on(runtime, async { tokio::time::sleep(STEP).await });
        let timeline = collector.snapshot();
        let now = polls(&timeline);
        let is_settled = now == before && is_as_expected(&timeline);
        if is_settled || began.elapsed() > Duration::from_secs(30) {
            return timeline;
        }
        before = now;
    }
}

/// Spawns each of `shapes`, and compares their trees once all of them wait: spawned through the crate, and by Tokio alone
/// where the system lets all wakers be seen.
pub(crate) fn check_all(shapes: &[(&'static str, Shape)]) {
    let ways = if SEES_WAKERS { &[true, false][..] } else { &[true] };
    for (&is_probed, threads) in ways.iter().flat_map(|way| [(way, 0), (way, 2)]) {
        let (collector, runtime) = runtime(threads);
        let task = |&(name, shape): &(&'static str, Shape)| {
            let shadow = Shadow::default();
            let _guard = runtime.enter();
            let future = shape(shadow.clone());
            let task = match is_probed {
                true => tokio_statemap::spawn(future),
                false => tokio::spawn(future),
            };
            (name, shadow, key(task.id()))
        };
        let tasks: Vec<_> = shapes.iter().map(task).collect();
        let differs = |timeline: &Timeline| {
            let differs = tasks.iter().filter_map(|(name, shadow, key)| {
                let task = timeline.tasks.iter().find(|task| task.key == *key).unwrap();
                let (found, expected) = (found(timeline, task), shadow.text());
                (found != expected)
                    .then(|| format!("{name}\n  found    {found}\n  expected {expected}"))
            });
            differs.collect::<Vec<_>>().join("\n")
        };
        let timeline = settled(&collector, &runtime, |timeline| differs(timeline).is_empty());
        let differs = differs(&timeline);
        assert!(differs.is_empty(), "{threads} threads, probed {is_probed}:\n{differs}");
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
    let (collector, runtime) = runtime(0);
    let (main, local) = (Shadow::default(), Shadow::default());
    let (main_up, local_up) = (main.clone(), local.clone());
    let set = LocalSet::new();
    collector.block_on(
        &runtime,
        set.run_until(async {
            let named = tokio_statemap::task::Builder::new().name("local");
            let task = named.spawn_local(naps(local_up)).unwrap();
            // The set polls both in one poll.
            let timeout = tokio::time::timeout(Duration::from_millis(1), naps(main_up)).await;
            assert!(timeout.is_err());
            let timeline = tokio_statemap::current().unwrap().snapshot();
            let [seen] = &timeline.local_tasks[..] else { panic!("{:?}", timeline.local_tasks) };
            assert_eq!(seen.id.to_string(), task.id().to_string());
            assert_eq!((seen.polled_in, seen.name.as_deref()), (TaskKey::Root(0), Some("local")));
            assert!(seen.location.unwrap().to_string().contains("waits/runtimes.rs"));
            assert!(seen.waits_since_ns <= timeline.end_ns);
            let Waiting::At(wait) = timeline.waiting_of_local(seen) else { panic!("{seen:?}") };
            assert_eq!(found_in(&wait.frames), local.text());
        }),
    );
}

#[test]
fn root_futures_and_two_runtimes_are_kept_apart() {
    let (first, runtime_1) = runtime(0);
    let (second, runtime_2) = runtime(1);
    let (inner, outer) = (Shadow::default(), Shadow::default());
    let spawned = inner.clone();
    let _guard = runtime_2.enter();
    tokio_statemap::spawn(naps(spawned));
    drop(_guard);
    let root_up = outer.clone();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let seen = std::thread::scope(|scope| {
        let seen = scope.spawn(|| {
            let waits = |collector: &Collector, shadow: &Shadow| {
                let (timeline, text) = (collector.snapshot(), shadow.text());
                let mut found = timeline.tasks.iter().map(|task| found(&timeline, task));
                !text.is_empty() && found.any(|found| found.contains(&text))
            };
            let began = Instant::now();
            while !(waits(&first, &outer) && waits(&second, &inner))
                && began.elapsed() < Duration::from_secs(60)
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            let seen = (first.snapshot(), second.snapshot());
            drop(end);
            seen
        });
        let root = async move {
            let wait = tokio::time::timeout(Duration::from_secs(1000), naps(root_up));
            tokio::select! { _ = wait => {} _ = ended => {} }
        };
        first.block_on(&runtime_1, root);
        seen.join().unwrap()
    });
    let (first_seen, second_seen) = seen;
    let root = &first_seen.tasks[0];
    // The root future has ended since, so its shadow has no frames any more.
    let found_root = found(&first_seen, root);
    assert!(found_root.contains("Timeout(naps:") && found_root.contains("(Sleep)"), "{found_root}");
    assert_eq!(first_seen.tasks.len(), 1);
    let [task] = &second_seen.tasks[..] else { panic!("{:?}", second_seen.tasks.len()) };
    assert_eq!(found(&second_seen, task), inner.text());
    runtime_2.shutdown_background();
}

#[test]
fn a_runtime_within_a_poll_leaves_the_outer_chain() {
    let (collector, runtime) = runtime(2);
    let shadow = Shadow::default();
    let up = shadow.clone();
    let key = collector.block_on(&runtime, async move {
        let task = tokio_statemap::spawn(async move {
            block_in_place(|| {
                let other = builder(0).enable_all().build().unwrap();
                other.block_on(tokio::time::sleep(Duration::from_millis(1)));
            });
            naps(up).await;
        });
        key(task.id())
    });
    let found_in = |timeline: &Timeline| {
        let task = timeline.tasks.iter().find(|task| task.key == key).unwrap();
        found(timeline, task)
    };
    let is_right = |found: &str| {
        let naps = shadow.text();
        !naps.is_empty() && found.ends_with(&format!("({naps})"))
    };
    let found = found_in(&settled(&collector, &runtime, |timeline| is_right(&found_in(timeline))));
    assert!(is_right(&found), "{found}");
    runtime.shutdown_background();
}
