//! A recorded program that misbehaves, or runs in a hostile environment.

use tests::allocations::Counting;
use tests::programs::{hostile, way};

#[global_allocator]
static COUNTING: Counting = Counting;

#[tokio_statemap::main(
    worker_threads = 2,
    tasks = hostile::path("TASKS", "tasks.json"),
    workers = hostile::path("WORKERS", "workers.json"),
    html = hostile::path("HTML", "statemap.html"),
    svg = hostile::path("SVG", "statemap.svg"),
    report = hostile::path("REPORT", "report.txt"),
    hooks = hostile::hooks,
    configure = hostile::configure
)]
async fn main() {
    hostile::run(&way()).await
}
