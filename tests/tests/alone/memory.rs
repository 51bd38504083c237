//! The memory of the flight recorder is bounded, however long it runs and for all sizes.
#![cfg(all(tokio_unstable, target_os = "linux"))]

use std::sync::Arc;

use tests::alone::alone;
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio_statemap::{Collector, CollectorConfig, register_hooks};

/// The resident set, in KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn polls(collector: &Arc<Collector>, runtime: &Runtime) {
    collector.block_on(runtime, async {
        let yields = |_| {
            tokio::spawn(async {
                for _ in 0..20_000 {
                    yield_now().await;
                }
            })
        };
        for task in (0..10).map(yields).collect::<Vec<_>>() {
            task.await.unwrap();
        }
        // Short-lived tasks are removed, too.
        for _ in 0..20_000 {
            tokio::spawn(async {}).await.unwrap();
        }
    });
}

#[test]
#[ignore = "slow: millions of events"]
fn it_does_not_grow() {
    alone(grows_by);
}

fn grows_by() {
    let sizes = [(1_000, 4_096), (20_000, 4_096), (50_000, 16_384), (50_000, 64)];
    for (max_events, buffer_capacity) in sizes {
        // What stacks are followed by takes memory once, whenever the first one is.
        let stacks = false;
        let config =
            CollectorConfig { max_events, buffer_capacity, stacks, ..CollectorConfig::default() };
        let mut builder = Builder::new_multi_thread();
        let collector = register_hooks(builder.worker_threads(2), config).unwrap();
        collector.start();
        let runtime = builder.build().unwrap();
        polls(&collector, &runtime);
        // Nor what functions are looked up by.
        collector.snapshot();
        let before_kib = resident_kib();
        for _ in 0..3 {
            polls(&collector, &runtime);
            // A snapshot and `lost` must not change that.
            collector.snapshot();
            collector.lost();
            // Nor what terminates while nothing is recorded.
            collector.stop();
            runtime.block_on(yield_now());
            collector.start();
        }
        let grown_kib = resident_kib().saturating_sub(before_kib);
        // Over a million events of 16 bytes went by, 20 MB.
        assert!(grown_kib < 8_000, "{grown_kib} KiB with {max_events}, {buffer_capacity}");
    }
}
