//! The memory of the flight recorder is bounded, however long it runs and whatever its sizes.
#![cfg(all(tokio_unstable, target_os = "linux"))]

use std::sync::Arc;

use tests::allocations::resident_kib;
use tests::alone::alone;
use tests::load::yields;
use tests::runtime::{builder, recorded};
use tokio::runtime::Runtime;
use tokio::task::yield_now;
use tokio_statemap::{Collector, CollectorConfig};

fn polls(collector: &Arc<Collector>, runtime: &Runtime) {
    collector.block_on(runtime, async {
        yields(10, 10_000).await;
        // Short-lived tasks must be removed, too.
        for _ in 0..10_000 {
            tokio::spawn(async {}).await.unwrap();
        }
    });
}

#[test]
#[ignore = "slow: millions of events"]
fn it_does_not_grow() {
    alone(record_for_long);
}

fn record_for_long() {
    let sizes = [(1_000, 4_096), (50_000, 16_384), (50_000, 64)];
    for (max_events, buffer_capacity) in sizes {
        // The tables for following stacks take memory once, at the first stack.
        let stacks = false;
        let config =
            CollectorConfig { max_events, buffer_capacity, stacks, ..CollectorConfig::default() };
        let (collector, runtime) = recorded(builder(2), config);
        polls(&collector, &runtime);
        // The first snapshot builds the tables that look functions up.
        collector.snapshot();
        let before_kib = resident_kib();
        for _ in 0..3 {
            polls(&collector, &runtime);
            // Snapshots, `lost`, and tasks that terminate while nothing is recorded must not keep memory.
            collector.snapshot();
            collector.lost();
            collector.stop();
            runtime.block_on(yield_now());
            collector.start();
        }
        let grown_kib = resident_kib().saturating_sub(before_kib);
        // Over a million events of 16 bytes passed, 20 MB.
        assert!(grown_kib < 8_000, "{grown_kib} KiB with {max_events}, {buffer_capacity}");
    }
}
