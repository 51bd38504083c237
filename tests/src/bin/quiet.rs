//! A program that prints nothing itself; its report goes to stderr.

use tests::programs::{quiet, way};

#[tokio_statemap::main(
    worker_threads = 2,
    max_events = 20_000,
    tasks = quiet::path("TASKS", "tasks.json"),
    workers = quiet::path("WORKERS", "workers.json"),
    html = quiet::path("HTML", "statemap.html"),
    svg = quiet::path("SVG", "statemap.svg")
)]
async fn main() {
    quiet::run(&way()).await
}
