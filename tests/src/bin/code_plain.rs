//! A `main` under Tokio's attribute that returns an `ExitCode`.

use tests::programs::{run, way};

#[tokio::main]
async fn main() -> std::process::ExitCode {
    run("returns").await;
    way().parse::<u8>().unwrap().into()
}
