//! A test with `max_poll` or `max_ready` fails if its run exceeds the limit, with the verdict as its message.
#![cfg(tokio_unstable)]

use std::sync::mpsc::channel;
use std::time::Duration;

use tests::files::NULL_DEVICE;
use tokio::time::sleep;

/// Blocks for longer than the small limits here and, where stacks are sampled, until a sample shows the block: a busy machine
/// may keep the recorder from looking for any time.
async fn block() {
    let (send, samples) = channel();
    let collector = tokio_statemap::current().expect("it is recorded");
    // A listener is called once for each poll, and on a busy machine perhaps before it has a stack; the next one is called
    // later.
    for times in [1, 2, 4, 8, 16, 32, 64] {
        let send = send.clone();
        collector.on_long_poll(Duration::from_millis(5) * times, move |poll| {
            if !poll.frames.is_empty() {
                let _ = send.send(());
            }
        });
    }
    std::thread::sleep(Duration::from_millis(40));
    if cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))) {
        let _ = samples.recv_timeout(Duration::from_secs(20));
    }
}

#[should_panic(expected = "A poll may hold a worker for 5 ms at most.")]
#[tokio_statemap::test(max_poll = "5ms", report = NULL_DEVICE)]
async fn a_poll_that_blocks_fails_the_test() {
    tokio::spawn(block()).await.unwrap();
}

/// The message names the spawn location.
#[should_panic(expected = "limits.rs")]
#[tokio_statemap::test(max_poll = "5ms", report = NULL_DEVICE)]
async fn the_verdict_is_the_message() {
    tokio::spawn(block()).await.unwrap();
}

#[should_panic(expected = "A task may be ready for 20 ms at most.")]
#[tokio_statemap::test(max_ready = "20ms", report = NULL_DEVICE)]
async fn a_task_that_is_kept_waiting_fails_the_test() {
    let waits = tokio::spawn(async {});
    block().await;
    waits.await.unwrap();
}

#[tokio_statemap::test(max_poll = "60s", max_ready = "60s", report = NULL_DEVICE)]
async fn a_run_within_the_limits_passes() {
    tokio::spawn(block()).await.unwrap();
    sleep(Duration::from_millis(1)).await;
}

#[should_panic(expected = "this is the test's own")]
#[tokio_statemap::test(max_poll = "5ms", report = NULL_DEVICE)]
async fn a_test_keeps_its_own_panic() {
    block().await;
    panic!("this is the test's own");
}

/// If nothing was recorded, nothing passes.
#[should_panic(expected = "can't be checked: nothing was recorded")]
#[tokio_statemap::test(max_poll = "60s", start_after = "1h", report = NULL_DEVICE)]
async fn a_run_that_is_not_recorded_fails_the_test() {
    sleep(Duration::from_millis(1)).await;
}

/// A few long polls without details may be caused by the machine. They can't be judged, so they don't pass.
#[should_panic(expected = "No detail of ")]
#[tokio_statemap::test(max_poll = "100ms", max_events = 10_000, report = NULL_DEVICE)]
async fn dropped_polls_do_not_pass() {
    // A poll that is longer by far would be blamed all the same. The others are shorter by far, also where the machine makes
    // them long.
    tokio::spawn(async { std::thread::sleep(Duration::from_millis(150)) }).await.unwrap();
    for _ in 0..30_000 {
        tokio::task::yield_now().await;
    }
    // The root future isn't on a worker, so a task evicts the poll, too.
    tokio::spawn(async {
        for _ in 0..30_000 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
}

#[should_panic(expected = "were refused")]
#[tokio_statemap::test(max_poll = "5ms", max_events = 1000, keep = "first", report = NULL_DEVICE)]
async fn refused_events_do_not_pass() {
    for _ in 0..3000 {
        tokio::task::yield_now().await;
    }
    // This poll isn't recorded, as the store is full.
    tokio::spawn(async { std::thread::sleep(Duration::from_millis(40)) }).await.unwrap();
}
