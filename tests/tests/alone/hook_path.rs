//! After the first hook of a thread, and the first wait at each place, no hook allocates: Tokio allocates the same with and without this crate.
//!
//! The allocations of all threads that have hooks are counted. The watcher of long polls has no hooks and may allocate.
#![cfg(tokio_unstable)]

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tests::allocations::{count_this_thread, thread_allocations, total_allocations};
use tests::alone::alone;
use tests::runtime::builder;
use tokio::task::yield_now;
use tokio_statemap::{CollectorConfig, Hooks, register_hooks_with};

/// Tokio keeps the tasks that yielded in a vector with room for 4 from the start.
const YIELDING_TASKS: usize = 4;
const YIELDS: u64 = 15_000;
const SLEEPS: u64 = 100;
const SPAWNS: u64 = 5_000;
const BLOCKING_CALLS: usize = 20;
/// The allocations for three stacks that are followed.
const FOLLOWED: u64 = 30;

/// Numbers of allocations.
#[derive(Debug, PartialEq)]
struct Allocations {
    /// In 60 000 yields and 100 sleeps.
    polls_and_parks: u64,
    /// In 5000 spawns.
    spawns: u64,
    /// On a blocking thread, from the end of its closure to the program's stop hook. It is the minimum of 20 threads, as
    /// Tokio itself sometimes allocates there.
    end_of_thread: u64,
}

/// Runs the same program on two workers, or on one thread with `workers` 0, recorded or not.
fn run(workers: usize, recorded: bool) -> Allocations {
    let mut builder = builder(workers);
    builder.enable_all().thread_keep_alive(Duration::from_millis(1));
    let ends = Arc::new(Ends::default());
    let hooks = Arc::clone(&ends).hooks();
    let collector = if recorded {
        Some(register_hooks_with(&mut builder, CollectorConfig::default(), hooks).unwrap())
    } else {
        hooks.install(&mut builder);
        None
    };
    if let Some(collector) = &collector {
        collector.start();
    }
    let runtime = builder.build().unwrap();
    let program = async {
        Allocations {
            polls_and_parks: polls_and_parks(workers.max(1)).await,
            spawns: tokio::spawn(spawns()).await.unwrap(),
            end_of_thread: ends.allocations().await,
        }
    };
    let allocations = runtime.block_on(program);
    drop(runtime);
    if let Some(collector) = collector {
        // The chunks were handed over many times, and no event was lost.
        assert_eq!(collector.lost().total(), 0);
        let timeline = collector.snapshot();
        assert!(timeline.events > 2 * YIELDING_TASKS as u64 * YIELDS, "{}", timeline.events);
        let parks: u64 = timeline.workers.iter().map(|worker| worker.parks).sum();
        assert!(parks > SLEEPS, "{parks}");
    }
    allocations
}

/// Runs tasks that yield and one that sleeps, first to warm up on all `workers`, and returns their allocations after that.
async fn polls_and_parks(workers: usize) -> u64 {
    let stage = Arc::new(Stage::default());
    let mut tasks = Vec::new();
    for task in 0..=YIELDING_TASKS {
        let stage = Arc::clone(&stage);
        tasks.push(tokio::spawn(async move {
            let sleeps = task == YIELDING_TASKS;
            if sleeps {
                sleep(SLEEPS).await;
            } else {
                while stage.yields[..workers].iter().any(|n| n.load(Ordering::SeqCst) < 1000) {
                    let worker = tokio::runtime::worker_index().unwrap();
                    stage.yields[worker].fetch_add(1, Ordering::SeqCst);
                    yield_now().await;
                }
            }
            stage.warm_tasks.fetch_add(1, Ordering::SeqCst);
            while !stage.is_on.load(Ordering::SeqCst) {
                sleep(1).await;
            }
            if sleeps {
                sleep(SLEEPS).await;
            } else {
                for _ in 0..YIELDS {
                    yield_now().await;
                }
            }
            stage.ended_tasks.fetch_add(1, Ordering::SeqCst);
            // The tasks end after the counting.
            while stage.is_on.load(Ordering::SeqCst) {
                sleep(1).await;
            }
        }));
    }
    while stage.warm_tasks.load(Ordering::SeqCst) < tasks.len() {
        sleep(1).await;
    }
    let before = total_allocations();
    stage.is_on.store(true, Ordering::SeqCst);
    while stage.ended_tasks.load(Ordering::SeqCst) < tasks.len() {
        sleep(1).await;
    }
    let counted = total_allocations() - before;
    stage.is_on.store(false, Ordering::SeqCst);
    for task in tasks {
        task.await.unwrap();
    }
    counted
}

/// The progress of the tasks of [`polls_and_parks`].
#[derive(Debug, Default)]
struct Stage {
    /// The number of yields on each worker while it warms up.
    yields: [AtomicU64; 2],
    warm_tasks: AtomicUsize,
    is_on: AtomicBool,
    ended_tasks: AtomicUsize,
}

async fn sleep(times: u64) {
    for _ in 0..times {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Spawns tasks one after the other, and returns their allocations.
async fn spawns() -> u64 {
    let storm = async || {
        for _ in 0..SPAWNS {
            tokio::spawn(async {}).await.unwrap();
        }
    };
    storm().await;
    let before = total_allocations();
    storm().await;
    total_allocations() - before
}

thread_local! {
    /// The value of [`thread_allocations`] at the end of the thread's closure.
    static AT_END_OF_CLOSURE: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Counts the allocations of blocking threads at their ends.
#[derive(Debug, Default)]
struct Ends {
    allocations: Mutex<Vec<u64>>,
}

impl Ends {
    /// Returns the program's own hooks, which are called after those that record.
    fn hooks(self: Arc<Self>) -> Hooks {
        // With one thread, hooks run on the thread of the test, too.
        count_this_thread();
        Hooks::new().on_thread_start(count_this_thread).on_thread_stop(move || {
            if let Some(before) = AT_END_OF_CLOSURE.get() {
                let allocations = thread_allocations() - before;
                self.allocations.lock().unwrap().push(allocations);
            }
        })
    }

    async fn allocations(&self) -> u64 {
        for n in 1..=BLOCKING_CALLS {
            let end = || AT_END_OF_CLOSURE.set(Some(thread_allocations()));
            tokio::task::spawn_blocking(end).await.unwrap();
            // After this time each call gets a new thread.
            while self.allocations.lock().unwrap().len() < n {
                sleep(1).await;
            }
        }
        self.allocations.lock().unwrap().iter().copied().min().unwrap()
    }
}

#[test]
fn hooks_allocate_nothing() {
    alone(compare);
}

fn compare() {
    for workers in [0, 2] {
        let plain = run(workers, false);
        assert_eq!(plain.polls_and_parks, 0, "Tokio itself allocates nothing here");
        assert_eq!(plain.spawns, SPAWNS, "Tokio itself allocates once a spawn");
        assert_eq!(plain.end_of_thread, 0, "Tokio itself mostly allocates nothing here");
        // Functions in which a task waits for the first time are followed, which allocates.
        run(workers, true);
        let recorded = run(workers, true);
        let new_places = recorded.polls_and_parks;
        // Where a task rarely waits, as when it used up its budget, it may do so for the first time.
        assert!(new_places <= FOLLOWED, "{workers} workers: {recorded:?}");
        assert_eq!(Allocations { polls_and_parks: 0, ..recorded }, plain, "{workers} workers");
    }
}
