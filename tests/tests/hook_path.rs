//! A hook allocates nothing after its thread's first: programs whose allocations are known make
//! just as many while they are recorded.
#![cfg(tokio_unstable)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio_statemap::{CollectorConfig, Hooks, register_hooks};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts the allocations of each thread.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn count() {
    // A thread that is ending may have none any more.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: it is the system's allocator; counting changes nothing about it, and allocates nothing,
// as the counter is `const` and has nothing to drop.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as this function's own.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as this function's own.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as this function's own.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// How many allocations this thread has made.
fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

/// What a task does among its polls: nothing here allocates, not in Tokio either.
const YIELDING_TASKS: usize = 8;
const YIELDS: u64 = 30_000;
/// As many tasks are spawned one after the other; each costs Tokio the same.
const SPAWNS: u64 = 5_000;
/// As often a task waits for a time, and a worker parks.
const PARKS: u64 = 200;

/// Runs `program` on the runtime that `builder` makes, and gives the allocations of each thread
/// between its first park after `begin` and its last before `end`.
///
/// The workers look at their counters themselves, in hooks of the test's own, as only they can.
fn worker_allocations(builder: &mut Builder, workers: usize, recorded: bool) -> Measured {
    let watch = Arc::new(Watch::default());
    // Tokio keeps one closure a hook: these are called after those that record.
    let hooks = watch_hooks(&watch);
    let collector = if recorded {
        let config = CollectorConfig::default();
        Some(tokio_statemap::register_hooks_with(builder, config, hooks).unwrap())
    } else {
        hooks.install(builder);
        None
    };
    if let Some(collector) = &collector {
        collector.start();
    }
    let runtime = builder.enable_all().build().unwrap();
    runtime.block_on(async {
        // Once to warm up: then Tokio's queues are as large as they get, and each thread has had
        // its first hook.
        storm(workers).await;
        spawns().await;
        watch.is_on.store(true, Ordering::SeqCst);
        storm(workers).await;
        watch.is_on.store(false, Ordering::SeqCst);
    });
    drop(runtime);
    let lost = collector.as_ref().map_or(0, |collector| collector.lost().total());
    assert_eq!(lost, 0);
    Measured {
        allocations: watch.allocations.load(Ordering::SeqCst),
        hooks: watch.hooks.load(Ordering::SeqCst),
        threads: watch.threads.lock().unwrap().len(),
    }
}
