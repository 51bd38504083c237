//! A recorded `main` with two workers that returns nothing.

use tests::programs::{out, run, way};

#[tokio_statemap::main(
    worker_threads = 2,
    tasks = out("tasks.json"),
    workers = out("workers.json"),
    html = out("statemap.html"),
    svg = out("statemap.svg"),
    report = out("report.txt")
)]
async fn main() {
    run(&way()).await
}
