//! A program whose report goes to stderr.

use tests::programs::{out, run, way};

#[tokio_statemap::main(
    worker_threads = 2,
    tasks = out("tasks.json"),
    workers = out("workers.json"),
    html = out("statemap.html"),
    svg = out("statemap.svg")
)]
async fn main() {
    run(&way()).await
}
