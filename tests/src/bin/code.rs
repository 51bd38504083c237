//! A recorded `main` that returns an `ExitCode`.

use tests::programs::{out, run, way};

#[tokio_statemap::main(
    tasks = out("tasks.json"),
    workers = out("workers.json"),
    html = out("statemap.html"),
    svg = out("statemap.svg"),
    report = out("report.txt")
)]
async fn main() -> std::process::ExitCode {
    run("returns").await;
    way().parse::<u8>().unwrap().into()
}
