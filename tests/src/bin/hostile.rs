//! A recorded program that misbehaves, or runs in a hostile environment.

use tests::allocations::Counting;
use tests::programs::{build_and_run, hostile, is_by_hand, way};
use tokio::runtime::Builder;
use tokio_statemap::Recording;

#[global_allocator]
static COUNTING: Counting = Counting;

fn main() {
    if !is_by_hand() {
        return by_attribute();
    }
    let recording = Recording::new()
        .tasks(hostile::path("TASKS", "tasks.json"))
        .workers(hostile::path("WORKERS", "workers.json"))
        .html(hostile::path("HTML", "statemap.html"))
        .svg(hostile::path("SVG", "statemap.svg"))
        .report(hostile::path("REPORT", "report.txt"))
        .version(env!("CARGO_PKG_VERSION"))
        .package(env!("CARGO_MANIFEST_DIR"))
        .hooks(hostile::hooks());
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2);
    hostile::configure(&mut builder);
    build_and_run(builder, recording, async { hostile::run(&way()).await });
}

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
async fn by_attribute() {
    hostile::run(&way()).await
}
