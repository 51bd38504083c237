//! The report names the tasks that held a contended lock.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, Semaphore};
use tokio::task::yield_now;
use tokio::time::sleep;
use tokio_statemap::report::WaitRow;

use super::runtimes::runtime;

const HOLDS: u32 = line!() + 4;

async fn holds(till: Arc<Mutex<u32>>) {
    let mut till = till.lock().await;
    sleep(Duration::from_millis(2)).await;
    *till += 1;
}

async fn is_quick(till: Arc<Mutex<u32>>) {
    for _ in 0..20 {
        *till.lock().await += 1;
        yield_now().await;
    }
}

const HOLDS_AT_TIMES: u32 = line!() + 7;

async fn holds_at_times(till: Arc<Mutex<u32>>) {
    for _ in 0..10 {
        let mut till = till.lock().await;
        *till += 1;
        if *till % 10 == 0 {
            sleep(Duration::from_millis(2)).await;
        }
    }
}

const SHARES: u32 = line!() + 4;

async fn shares(permits: Arc<Semaphore>) {
    let _permit = permits.acquire().await.unwrap();
    sleep(Duration::from_millis(2)).await;
}

/// Returns the row of the lock that is awaited in `line`.
fn row(rows: &[WaitRow], line: u32) -> &WaitRow {
    rows.iter().find(|row| row.at.line == Some(line)).unwrap_or_else(|| panic!("{rows:#?}"))
}

/// Runs tasks that wait for each other, and checks the named holders. Returns whether each lock has one: on a busy machine
/// two threads may poll tasks whenever one releases a permit.
fn holders_are_named(threads: usize) -> bool {
    let (collector, runtime) = runtime(threads);
    let (slow, slow_at_times, quick) = (Arc::default(), Arc::default(), Arc::default());
    let permits = Arc::new(Semaphore::new(3));
    let guard = runtime.enter();
    let mut tasks = Vec::new();
    for _ in 0..40 {
        tasks.push(tokio_statemap::spawn(holds(Arc::clone(&slow))));
        tasks.push(tokio_statemap::spawn(holds_at_times(Arc::clone(&slow_at_times))));
        tasks.push(tokio_statemap::spawn(is_quick(Arc::clone(&quick))));
        tasks.push(tokio_statemap::spawn(shares(Arc::clone(&permits))));
    }
    drop(guard);
    collector.block_on(&runtime, async {
        for task in tasks {
            task.await.unwrap();
        }
    });
    let report = collector.snapshot().report();
    let rows = &report.waits.lines;
    // These locks are never held while their holder waits.
    let quick = rows.iter().filter(|row| row.at.function.contains("is_quick"));
    assert!(quick.clone().all(|row| row.holder.is_none()), "{:#?}", quick.collect::<Vec<_>>());
    for (awaited, line) in
        [(HOLDS - 1, HOLDS), (HOLDS_AT_TIMES - 3, HOLDS_AT_TIMES), (SHARES - 1, SHARES)]
    {
        let Some(holder) = &row(rows, awaited).holder else { return false };
        assert_eq!(holder.at.line, Some(line), "{threads} threads: {holder:?}");
        assert_eq!(holder.awaits.as_deref(), Some("tokio::time::sleep::Sleep"));
        assert!(2 * holder.waited_ns > holder.held_ns, "{holder:?}");
        assert!(holder.waited_ns <= holder.held_ns, "{holder:?}");
    }
    let text = report.to_string();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Mutex::lock was held, its holders waited in async "), "{text}");
    true
}

#[test]
fn the_holder_of_a_lock_across_an_await_is_named() {
    for threads in [0, 2] {
        assert!((0..20).any(|_| holders_are_named(threads)), "{threads} threads");
    }
}
