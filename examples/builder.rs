//! Two runtimes built by hand, each recorded by a collector of its own, with hooks of our own.
//!
//! ```text
//! cargo run --release --example builder
//! ```
//!
//! `api` answers customers on two workers, `jobs` makes thumbnails on a thread of its own. Each leaves its
//! files and prints its report: nothing of the one is in the other's.

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

/// The first runtime: recorded, and its hooks also count for us.
fn run_api(orders: mpsc::Sender<u32>) -> Result<(), AnyError> {
    let parks = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&parks);
    // Tokio has room for one closure a hook, and the collector takes it. What the program itself
    // wants to do there is handed over with `Hooks`; it is called after the collector's.
    let hooks = Hooks::new().on_thread_park(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    });

    let mut builder = Builder::new_multi_thread();
    builder.name("api").worker_threads(2).enable_all();
    let collector = register_hooks_with(&mut builder, CollectorConfig::default(), hooks)?;
    // Before `build`, or the workers' starts are missed.
    collector.start();
    let runtime = builder.build()?;
    // `collector.block_on` rather than `runtime.block_on`, so that the future shows, too.
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
    // The workers' ends are part of the picture if the runtime ends before the recording does.
    drop(runtime);
    collector.stop();
    println!("api: our own hook counted {} parks", parks.load(Ordering::Relaxed));
    write_out(&collector, "api")
}

/// The second one, at the same time. All it lacks is hooks of our own.
fn run_jobs(mut orders: mpsc::Receiver<u32>) -> Result<(), AnyError> {
    let mut builder = Builder::new_current_thread();
    builder.name("jobs").enable_all();
    let config = CollectorConfig {
        // A job may well compute for 2 ms: there is nobody here who'd have to wait for it.
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

/// Computes for a while; here it only pretends to.
fn make_thumbnail(_picture: u32) -> u32 {
    thread::sleep(Duration::from_millis(2));
    1
}

/// Writes what was recorded, and prints the report.
fn write_out(collector: &Collector, name: &str) -> Result<(), AnyError> {
    let timeline = collector.snapshot();
    println!("\n{}\n", timeline.report());
    timeline.write_html(File::create(format!("builder.{name}.statemap.html"))?)?;
    // For other tools: the same as data.
    let data = timeline.into_data();
    data.write_tasks(File::create(format!("builder.{name}.tasks.json"))?)?;
    data.write_workers(File::create(format!("builder.{name}.workers.json"))?)?;
    Ok(())
}
