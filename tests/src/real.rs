//! A real run with two functions that block, for what reads its files.

use std::time::Duration;

use tokio_statemap::{CollectorConfig, Timeline, register_hooks};

/// How long the longest of its polls blocks.
const LONG: Duration = Duration::from_millis(25);

/// Runs it on two workers: tasks that block in `sign` and `render`, some that wait for a lock, and some that spawn
/// others. It ends with one that still waits.
///
/// # Panics
///
/// If there is no runtime.
pub fn run() -> Timeline {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_time();
    let collector = register_hooks(&mut builder, CollectorConfig::default()).expect("the hooks");
    collector.start();
    let runtime = builder.build().expect("a runtime");
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
