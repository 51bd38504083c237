//! Two runtimes built without the attribute, each recorded by its own collector, with the program's
//! own hooks.
//!
//! ```text
//! cargo run --example builder
//! ```
//!
//! `api` answers customers on two workers, and `jobs` makes thumbnails on its own thread. Each runtime
//! writes its own files and prints its own report; their events are never mixed.

use std::error::Error;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_statemap::{Collector, CollectorConfig, Hooks, register_hooks, register_hooks_with};

type AnyError = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), AnyError> {
    let (orders, jobs) = mpsc::channel(100);
    let worker = thread::spawn(move || run_jobs(jobs));
    run_api(orders)?;
    worker.join().expect("run_jobs doesn't panic")
}

/// Runs the first runtime: recorded, with the program's own hooks, which count.
fn run_api(orders: mpsc::Sender<u32>) -> Result<(), AnyError> {
    let parks = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&parks);
    // Tokio keeps one closure per hook, and the collector uses it. The program's own hooks are
    // passed as `Hooks`, and are called after the collector's.
    let hooks = Hooks::new().on_thread_park(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    });

    let mut builder = Builder::new_multi_thread();
    builder.name("api").worker_threads(2).enable_all();
    let collector = register_hooks_with(&mut builder, CollectorConfig::default(), hooks)?;
    // Starting after `build` would miss the starts of the workers.
    collector.start();
    let runtime = builder.build()?;
    // With `collector.block_on` instead of `runtime.block_on`, the future is recorded, too.
    collector.block_on(&runtime, async {
        let mut customers = Vec::new();
        for customer in 0..20 {
            let orders = orders.clone();
            customers.push(tokio::spawn(async move {
                for order in 0..5 {
                    sleep(Duration::from_millis(10)).await;
                    let picture = customer * 5 + order;
                    orders.send(picture).await.expect("`jobs` takes all orders");
                }
            }));
        }
        for customer in customers {
            customer.await.expect("no customer panics");
        }
    });
    // Dropping the runtime before recording ends records the ends of the workers.
    drop(runtime);
    collector.stop();
    println!("api: our own hook counted {} parks", parks.load(Ordering::Relaxed));
    write_out(&collector, "api")
}

/// Runs the second runtime at the same time, without hooks of its own.
fn run_jobs(mut orders: mpsc::Receiver<u32>) -> Result<(), AnyError> {
    let mut builder = Builder::new_current_thread();
    builder.name("jobs").enable_all();
    let config = CollectorConfig {
        // A job may compute for 2 ms, as no other task waits for this thread.
        long_poll: Duration::from_millis(10),
        ..CollectorConfig::default()
    };
    let collector = register_hooks(&mut builder, config)?;
    collector.start();
    let runtime = builder.build()?;
    collector.block_on(&runtime, async {
        let mut thumbnails = 0;
        while let Some(picture) = orders.recv().await {
            let made = tokio::spawn(async move { make_thumbnail(picture) });
            thumbnails += made.await.expect("make_thumbnail doesn't panic");
        }
        println!("jobs: {thumbnails} thumbnails made");
    });
    drop(runtime);
    collector.stop();
    write_out(&collector, "jobs")
}

/// Simulates a computation.
fn make_thumbnail(_picture: u32) -> u32 {
    thread::sleep(Duration::from_millis(2));
    1
}

/// Writes the files and prints the report.
fn write_out(collector: &Collector, name: &str) -> Result<(), AnyError> {
    let timeline = collector.snapshot();
    println!("\n{}\n", timeline.report());
    timeline.write_html(File::create(format!("builder.{name}.statemap.html"))?)?;
    // The data is the same, for other tools.
    let data = timeline.into_data();
    data.write_tasks(File::create(format!("builder.{name}.tasks.json"))?)?;
    data.write_workers(File::create(format!("builder.{name}.workers.json"))?)?;
    Ok(())
}
