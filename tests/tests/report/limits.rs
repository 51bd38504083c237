//! A test with `max_poll` or `max_ready` fails where a run is over it, with the verdict for its message.
#![cfg(tokio_unstable)]

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use tokio::time::sleep;

/// Where the files of these tests go: nobody looks at them.
fn report() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("limits-{pid}.txt")
}

/// Blocks while others are ready, for longer than any of the small limits here, and until it was seen where that is
/// possible: the machine may keep the recorder from looking for any time.
async fn block() {
    let (tell, told) = channel();
    let collector = tokio_statemap::current().expect("it is recorded");
    // Each is told of a poll once, and on a busy machine perhaps without a stack: the next one is told later.
    for times in [1, 2, 4, 8, 16, 32, 64] {
        let tell = tell.clone();
        collector.on_long_poll(Duration::from_millis(5) * times, move |poll| {
            if !poll.frames.is_empty() {
                let _ = tell.send(());
            }
        });
    }
    std::thread::sleep(Duration::from_millis(40));
    if cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))) {
        let _ = told.recv_timeout(Duration::from_secs(20));
    }
}

#[should_panic(expected = "A poll may hold a worker for 5 ms at most.")]
#[tokio_statemap::test(max_poll = "5ms", report = report())]
async fn a_poll_that_blocks_fails_the_test() {
    tokio::spawn(block()).await.unwrap();
}

/// The message says where the task is from.
#[should_panic(expected = "limits.rs")]
#[tokio_statemap::test(max_poll = "5ms", report = report())]
async fn the_verdict_is_the_message() {
    tokio::spawn(block()).await.unwrap();
}

#[should_panic(expected = "A task may be ready for 20 ms at most.")]
#[tokio_statemap::test(max_ready = "20ms", report = report())]
async fn a_task_that_is_kept_waiting_fails_the_test() {
    let waits = tokio::spawn(async {});
    block().await;
    waits.await.unwrap();
}

#[tokio_statemap::test(max_poll = "60s", max_ready = "60s", report = report())]
async fn what_is_within_the_limits_passes() {
    tokio::spawn(block()).await.unwrap();
    sleep(Duration::from_millis(1)).await;
}

#[should_panic(expected = "this is the test's own")]
#[tokio_statemap::test(max_poll = "5ms", report = report())]
async fn a_test_keeps_its_own_panic() {
    block().await;
    panic!("this is the test's own");
}

/// Where nothing is recorded in which a poll could be, nothing passes.
#[should_panic(expected = "can't be checked: nothing was recorded")]
#[tokio_statemap::test(max_poll = "60s", start_after = "1h", report = report())]
async fn what_is_not_recorded_fails_the_test() {
    sleep(Duration::from_millis(1)).await;
}

/// A few polls of which nothing is kept may be the machine's doing: that can't be judged, and doesn't pass.
#[should_panic(expected = "none of them is kept")]
#[tokio_statemap::test(max_poll = "5ms", max_events = 10_000, report = report())]
async fn what_was_dropped_does_not_pass() {
    tokio::spawn(block()).await.unwrap();
    for _ in 0..30_000 {
        tokio::task::yield_now().await;
    }
    // The root future isn't on a worker here.
    tokio::spawn(async {
        for _ in 0..30_000 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
}

#[should_panic(expected = "were refused")]
#[tokio_statemap::test(max_poll = "5ms", max_events = 1000, keep = "first", report = report())]
async fn what_was_refused_does_not_pass() {
    for _ in 0..3000 {
        tokio::task::yield_now().await;
    }
    // Nobody sees this one: nothing is recorded any more.
    tokio::spawn(async { std::thread::sleep(Duration::from_millis(40)) }).await.unwrap();
}
