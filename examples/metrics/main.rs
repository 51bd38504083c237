//! A service that has its metrics in the crate `metrics`: the sums of the recording become counters there.
//!
//! ```text
//! cargo run -p example-metrics
//! ```
//!
//! Instead of an exporter it has a recorder that keeps all values, which it prints in the end.

mod recorder;

use std::thread;
use std::time::Duration;

use metrics::counter;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{interval, sleep};
use tokio_statemap::summary::Summary;

use recorder::Values;

#[tokio_statemap::main(worker_threads = 2, html = "metrics.statemap.html")]
async fn main() {
    let values = Values::default();
    metrics::set_global_recorder(values.clone()).expect("there is no other recorder");
    tokio::spawn(keep_metrics());

    let mut requests = JoinSet::new();
    for n in 0..100 {
        requests.spawn(async move {
            sleep(Duration::from_millis(20 * n)).await;
            // An async function must not do this, as it blocks the worker.
            thread::sleep(Duration::from_millis(3));
        });
    }
    requests.join_all().await;
    sleep(Duration::from_millis(600)).await;
    values.print();
}

/// Sets the metrics twice a second.
async fn keep_metrics() {
    let mut ticks = interval(Duration::from_millis(500));
    loop {
        ticks.tick().await;
        // There is none with `TOKIO_STATEMAP=0`.
        let Some(collector) = tokio_statemap::current() else { return };
        // On a worker this would be a long poll itself.
        let Ok(summary) = spawn_blocking(move || collector.summary()).await else { return };
        set_metrics(&summary);
    }
}

fn set_metrics(summary: &Summary) {
    for of in &summary.locations {
        let location = of.location.map_or_else(|| "unknown".to_owned(), |at| at.to_string());
        counter!("tokio_tasks", "location" => location.clone()).absolute(of.tasks);
        counter!("tokio_held_us", "location" => location.clone()).absolute(of.held_ns / 1000);
        counter!("tokio_long_polls", "location" => location).absolute(of.long_polls);
    }
    for worker in &summary.workers {
        let index = worker.index.to_string();
        counter!("tokio_worker_busy_us", "worker" => index).absolute(worker.running_ns / 1000);
    }
}
