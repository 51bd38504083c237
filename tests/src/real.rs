//! A real run with two functions that block, for tests that read its files.

use std::time::Duration;

use tokio_statemap::{CollectorConfig, Timeline};

use crate::runtime::{builder, recorded};

/// The length of the longest block.
const LONG: Duration = Duration::from_millis(25);

/// Runs tasks on two workers that wait for a lock, block in `sign` or `render`, and spawn others. One task still waits
/// when it ends.
///
/// # Panics
///
/// If the runtime can't be built.
pub fn run() -> Timeline {
    let (collector, runtime) = recorded(builder(2), CollectorConfig::default());
    let timeline = collector.block_on(&runtime, async {
        let lock = std::sync::Arc::new(tokio::sync::Mutex::new(0));
        let mut tasks = Vec::new();
        for n in 0..8_u32 {
            let lock = std::sync::Arc::clone(&lock);
            tasks.push(tokio_statemap::spawn(async move {
                let child = tokio_statemap::spawn(tokio::task::yield_now());
                tokio::time::sleep(Duration::from_millis(1)).await;
                let mut held = lock.lock().await;
                *held += 1;
                if n % 2 == 0 {
                    sign()
                } else {
                    render()
                }
                drop(held);
                let _ = child.await;
            }));
        }
        for task in tasks {
            let _ = task.await;
        }
        drop(tokio_statemap::spawn(tokio::time::sleep(Duration::from_secs(3600))));
        tokio::time::sleep(Duration::from_millis(2)).await;
        collector.snapshot()
    });
    runtime.shutdown_background();
    timeline
}

#[inline(never)]
fn sign() {
    std::thread::sleep(LONG);
}

#[inline(never)]
fn render() {
    std::thread::sleep(LONG / 2);
}
