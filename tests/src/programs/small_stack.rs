//! A runtime whose threads have little stack.

use std::future::pending;
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::task::yield_now;
use tokio_statemap::{CollectorConfig, register_hooks};

/// Runs a program on threads with this stack size. If it is recorded, chunks fill up and are evicted all the time.
///
/// # Panics
///
/// If such a runtime can't be built.
pub fn run(is_observed: bool, stack_bytes: usize) {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().thread_stack_size(stack_bytes);
    builder.thread_keep_alive(Duration::from_millis(1));
    let collector = is_observed.then(|| {
        let config =
            CollectorConfig { max_events: 1000, buffer_capacity: 64, ..Default::default() };
        register_hooks(&mut builder, config).unwrap()
    });
    for window in 0..3 {
        // The first recording starts late; the others last from the start of the runtime until shortly before its end.
        if let Some(collector) = collector.as_ref().filter(|_| window > 0) {
            collector.start();
        }
        let runtime = builder.build().unwrap();
        let work = runtime.spawn(work());
        if let Some(collector) = &collector {
            collector.start();
        }
        runtime.block_on(work).unwrap();
        if let Some(collector) = &collector {
            assert!(collector.snapshot().events > 0);
            collector.stop();
        }
        let work = runtime.spawn(spawns(100));
        runtime.block_on(work).unwrap();
    }
}

async fn work() {
    for _ in 0..4 {
        tokio::task::spawn_blocking(|| thread::sleep(Duration::from_millis(3))).await.unwrap();
        spawns(300).await;
        for _ in 0..2000 {
            yield_now().await;
        }
    }
}

/// Spawns short-lived tasks, and tasks that stay.
async fn spawns(n: usize) {
    for _ in 0..n {
        tokio::spawn(pending::<()>());
        tokio::spawn(yield_now());
        tokio::spawn(async {}).await.unwrap();
    }
}
