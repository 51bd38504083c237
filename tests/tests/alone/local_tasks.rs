//! A process has 16 384 places for the tasks of its `LocalSet`s.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::fs;

use tests::alone::alone;
use tests::runtime::{builder, recorded};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, LocalSet, spawn_local, yield_now};
use tokio_statemap::CollectorConfig;

#[test]
fn thousands_are_kept_and_the_rest_is_counted() {
    alone(thousands);
}

fn thousands() {
    let (collector, runtime) = recorded(builder(0), CollectorConfig::default());
    let set = LocalSet::new();
    collector.block_on(
        &runtime,
        set.run_until(async {
            for _ in 0..30 {
                let tasks: Vec<_> = (0..1000).map(|_| spawn_local(waits())).collect();
                settle().await;
                assert_eq!(collector.snapshot().local_tasks.len(), 1000);
                tasks.iter().for_each(JoinHandle::abort);
                settle().await;
            }
            let before = collector.snapshot().places.not_kept;
            (0..20_000).for_each(|_| drop(spawn_local(waits())));
            // A set polls 61 tasks each time.
            for _ in 0..50 {
                settle().await;
            }
            let timeline = collector.snapshot();
            let shown = timeline.local_tasks.len() as u64;
            assert!(shown <= 16_384, "{shown}");
            assert!(timeline.places.not_kept - before + shown >= 20_000, "{shown}");
        }),
    );
}

/// Neither its file descriptors are left, nor a thread.
#[test]
fn a_runtime_that_ended_is_let_go() {
    alone(|| {
        let count = |of: &str| fs::read_dir(format!("/proc/self/{of}")).unwrap().count();
        let run = || {
            let (collector, runtime) = recorded(builder(0), CollectorConfig::default());
            let set = LocalSet::new();
            let ends = set.run_until(async {
                spawn_local(tokio::time::sleep(std::time::Duration::from_millis(1))).await.unwrap();
                drop(spawn_local(waits()));
                settle().await;
            });
            collector.block_on(&runtime, ends);
        };
        let threads = count("task");
        // Tokio itself keeps some files and threads after the first run.
        run();
        let wait_for = |fds| {
            let began = std::time::Instant::now();
            while count("task") > threads || count("fd") > fds {
                assert!(began.elapsed().as_secs() < 60, "{} of {fds}", count("fd"));
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        };
        wait_for(usize::MAX);
        let fds = count("fd");
        (0..5).for_each(|_| run());
        wait_for(fds);
    });
}

async fn waits() {
    Notify::new().notified().await;
}

async fn settle() {
    for _ in 0..40 {
        yield_now().await;
    }
}
