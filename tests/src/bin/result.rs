//! A recorded `main` that returns a `Result`.

use tests::programs::{out, run, way};

#[tokio_statemap::main(
    tasks = out("tasks.json"),
    workers = out("workers.json"),
    html = out("statemap.html"),
    svg = out("statemap.svg"),
    report = out("report.txt")
)]
async fn main() -> Result<(), String> {
    run("returns").await;
    match way().as_str() {
        "ok" => Ok(()),
        way => Err(way.to_owned()),
    }
}
