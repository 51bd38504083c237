//! A recorded `main` that returns an `ExitCode`.

use tests::programs::{build_and_run, is_by_hand, out, recording, run, way};
use tokio::runtime::Builder;

fn main() -> std::process::ExitCode {
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
async fn by_attribute() -> std::process::ExitCode {
    body().await
}

async fn body() -> std::process::ExitCode {
    run("returns").await;
    way().parse::<u8>().unwrap().into()
}
