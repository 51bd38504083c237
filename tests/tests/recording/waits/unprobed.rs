//! Tasks that aren't spawned through the crate, but call instrumented functions, where wakers aren't seen.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tests::runtime::{builder, key, recorded};
use tokio_statemap::timeline::{AwaitFrame, Waiting};
use tokio_statemap::{CollectorConfig, Instrument, Timeline};

use super::runtimes::settled;

/// A future that keeps the first waker, and is polled again when something else wakes the task.
struct Keeps(Option<Waker>);

impl Future for Keeps {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.get_or_insert_with(|| cx.waker().clone());
        Poll::Pending
    }
}

async fn sleeps(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

#[tokio_statemap::instrument]
async fn handler(ms: u64) {
    sleeps(1).await;
    sleeps(ms).await;
}

#[tokio_statemap::instrument]
async fn nested() {
    handler(1_000_000).await;
}

#[tokio_statemap::instrument]
async fn keeps() {
    Keeps(None).await;
}

/// Returns the functions, each with the functions that it awaits.
fn text(frames: &[AwaitFrame]) -> String {
    let frame = |frame: &AwaitFrame| {
        let path = frame.function.function.split('<').next().unwrap_or_default();
        let name = path.rsplit("::").next().unwrap_or_default();
        let called = frame.name.as_deref().map(|name| format!(" “{name}”")).unwrap_or_default();
        match &frame.awaits[..] {
            [] => format!("{name}{called}"),
            awaits => format!("{name}{called} ({})", text(awaits)),
        }
    };
    frames.iter().map(frame).collect::<Vec<_>>().join(", ")
}

#[test]
fn instrumented_calls_tell_where_a_task_waits() {
    for threads in [0, 2] {
        let config = CollectorConfig { wakes: false, ..CollectorConfig::default() };
        let (collector, runtime) = recorded(builder(threads), config);
        let guard = runtime.enter();
        let spawned = [
            ("handler (sleeps (Sleep))", tokio::spawn(handler(1_000_000))),
            ("nested (handler (sleeps (Sleep)))", tokio::spawn(nested())),
            // The timer wakes the task; `Keeps` doesn't clone a waker again.
            ("keeps (Keeps)", tokio::spawn(async { tokio::join!(keeps(), sleeps(5)).0 })),
            // The task's own async block isn't instrumented.
            ("handler (sleeps (Sleep))", tokio::spawn(async { handler(1_000_000).await })),
            ("sleeps “nap” (Sleep)", tokio::spawn(sleeps(1_000_000).instrument("nap"))),
            // The instrumented call is over.
            ("", tokio::spawn(async { (handler(1).await, sleeps(1_000_000).await).1 })),
            ("", tokio::spawn(sleeps(1_000_000))),
        ];
        drop(guard);
        let found = |timeline: &Timeline| {
            let found = spawned.iter().map(|(_, task)| {
                let key = key(task.id());
                let task = timeline.tasks.iter().find(|task| task.key == key).unwrap();
                match timeline.waiting_at_end(task) {
                    Waiting::At(wait) => text(&wait.frames),
                    Waiting::Unknown => String::new(),
                    other => format!("{other:?}"),
                }
            });
            found.collect::<Vec<_>>()
        };
        let expected: Vec<_> = spawned.iter().map(|(expected, _)| *expected).collect();
        let timeline = settled(&collector, &runtime, |timeline| found(timeline) == expected);
        assert_eq!(found(&timeline), expected, "{threads} threads");
        let trees = timeline.trees();
        let tree = trees.iter().find(|tree| tree.to_string().contains("nested")).unwrap();
        assert!(tree.to_string().contains("unprobed.rs:"), "{tree}");
        runtime.shutdown_background();
    }
}
