//! Two runtimes that are built by hand, in one recording: one page, and one report with the worst first.
//!
//! ```text
//! cargo run --example builder
//! ```
//!
//! `api` answers customers on two workers, and `jobs` makes thumbnails on its own thread.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_statemap::{Hooks, Recording};

fn main() -> Result<(), Box<dyn Error>> {
    let parks = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&parks);
    // Tokio keeps one closure per hook, and the recording uses it. The program's own hooks are
    // passed as `Hooks`, and are called after those that record.
    let hooks = Hooks::new().on_thread_park(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    });

    let mut builder = Builder::new_multi_thread();
    builder.name("api").worker_threads(2).enable_all();
    // Starting after `build` would miss the runtime. The recording writes its files when it is dropped, which is after
    // the runtime, or when the program ends in another way.
    let recording = Recording::new().html("builder.html").hooks(hooks).start(&mut builder)?;
    let api = builder.build()?;

    let (orders, jobs) = mpsc::channel(100);
    thread::scope(|scope| {
        let worker = scope.spawn(|| run_jobs(&recording, jobs));
        // With `recording.block_on` instead of `api.block_on`, the future is shown, too.
        recording.block_on(&api, serve(orders));
        worker.join().expect("run_jobs doesn't panic")
    })?;
    println!("api: our own hook counted {} parks", parks.load(Ordering::Relaxed));
    Ok(())
}

/// Serves 20 customers, each of whom orders five thumbnails.
async fn serve(orders: mpsc::Sender<u32>) {
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
}

/// Runs the second runtime at the same time, on this thread.
fn run_jobs(recording: &Recording, mut orders: mpsc::Receiver<u32>) -> std::io::Result<()> {
    let mut builder = Builder::new_current_thread();
    let recorded = recording.runtime(builder.name("jobs").enable_all());
    let runtime = builder.build()?;
    recorded.block_on(&runtime, async {
        let mut thumbnails = 0;
        while let Some(picture) = orders.recv().await {
            let made = tokio::spawn(async move { make_thumbnail(picture) });
            thumbnails += made.await.expect("make_thumbnail doesn't panic");
        }
        println!("jobs: {thumbnails} thumbnails made");
    });
    Ok(())
}

/// Simulates a computation.
fn make_thumbnail(_picture: u32) -> u32 {
    thread::sleep(Duration::from_millis(2));
    1
}
