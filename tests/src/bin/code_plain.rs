//! `main` returns an `ExitCode`, as it is without us.

use tests::programs::{run, way};

#[tokio::main]
async fn main() -> std::process::ExitCode {
    run("returns").await;
    way().parse::<u8>().unwrap().into()
}
