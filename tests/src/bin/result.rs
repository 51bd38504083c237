//! A recorded `main` that returns a `Result`.

use tests::programs::{build_and_run, is_by_hand, out, recording, run, way};
use tokio::runtime::Builder;

fn main() -> Result<(), String> {
    match is_by_hand() {
        true => build_and_run(Builder::new_multi_thread(), recording(), body()),
        false => by_attribute(),
    }
}

#[tokio_statemap::main(
    tasks = out("tasks.json"),
    workers = out("workers.json"),
    html = out("statemap.html"),
    svg = out("statemap.svg"),
    report = out("report.txt")
)]
async fn by_attribute() -> Result<(), String> {
    body().await
}

async fn body() -> Result<(), String> {
    run("returns").await;
    match way().as_str() {
        "ok" => Ok(()),
        way => Err(way.to_owned()),
    }
}
