//! The places for the tasks of all `LocalSet`s of a process, of which there are 16 384.
#![cfg(all(tokio_unstable, target_os = "linux"))]

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

async fn waits() {
    Notify::new().notified().await;
}

async fn settle() {
    for _ in 0..40 {
        yield_now().await;
    }
}
