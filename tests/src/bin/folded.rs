//! Tasks that wait in futures so small that the compiler may put all of their polls into the function of the runtime that polls
//! them. It prints of each task which line it is expected at, and what is recorded.

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use tests::files::line_ending;
use tests::runtime::{builder, key, recorded};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::sleep;
use tokio_statemap::timeline::{AwaitFrame, Task, Waiting};
use tokio_statemap::{CollectorConfig, Timeline};

fn main() {
    let (collector, runtime) = recorded(builder(2), CollectorConfig::default());
    let mutex = Arc::new(Mutex::new(()));
    let held = Arc::clone(&mutex).try_lock_owned();
    let (send, mut receive) = mpsc::channel::<u8>(1);
    let (answer, asked) = oneshot::channel::<u8>();
    let kept = Cell::new(None::<Waker>);

    let guard = runtime.enter();
    let tasks = [
        ("locks", tokio::spawn(async move { _ = mutex.lock().await })), // locks
        ("receives", tokio::spawn(async move { _ = receive.recv().await })), // receives
        ("asks", tokio::spawn(async move { _ = asked.await })),         // asks
        ("sleeps", tokio::spawn(async { sleep(Duration::from_secs(1000)).await })), // sleeps
        (
            "keeps",
            tokio::spawn(poll_fn(move |cx| {
                kept.set(Some(cx.waker().clone())); // keeps
                Poll::<()>::Pending
            })),
        ),
        ("has no waker", tokio::spawn(pending::<()>())), // has no waker
    ];
    drop(guard);
    let has_all_polls = |timeline: &Timeline| {
        let was_polled =
            |id| timeline.tasks.iter().any(|task| task.key == id && !task.polls.is_empty());
        tasks.iter().all(|(_, task)| was_polled(key(task.id())))
    };
    let mut timeline = collector.snapshot();
    while !has_all_polls(&timeline) {
        runtime.block_on(async { sleep(Duration::from_millis(10)).await });
        timeline = collector.snapshot();
    }
    for (name, task) in &tasks {
        let expected = line_ending(include_str!("folded.rs"), &format!("// {name}"));
        let task = timeline.tasks.iter().find(|of| of.key == key(task.id())).unwrap();
        println!("{name}, line {expected}: {}", waits(&timeline, task));
    }
    drop((held, send, answer));
    runtime.shutdown_background();
}

/// Returns where a task waits: a line of this file, `nothing`, or `unknown`.
fn waits(timeline: &Timeline, task: &Task) -> String {
    fn line(frames: &[AwaitFrame]) -> Option<u32> {
        frames.iter().find_map(|frame| {
            let is_here = frame.function.file.as_deref()?.ends_with("/folded.rs");
            line(&frame.awaits).or(if is_here { frame.function.line } else { None })
        })
    }
    match timeline.waiting_at_end(task) {
        Waiting::At(wait) => {
            line(&wait.frames).map_or_else(|| "unknown".to_owned(), |line| format!("line {line}"))
        }
        Waiting::Nothing => "nothing".to_owned(),
        _ => "unknown".to_owned(),
    }
}
