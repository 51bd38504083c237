//! A `main` under Tokio's attribute that returns a `Result`.

use tests::programs::{run, way};

#[tokio::main]
async fn main() -> Result<(), String> {
    run("returns").await;
    match way().as_str() {
        "ok" => Ok(()),
        way => Err(way.to_owned()),
    }
}
