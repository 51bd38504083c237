//! `main` returns a `Result`, under Tokio's attribute.

use tests::programs::{run, way};

#[tokio::main]
async fn main() -> Result<(), String> {
    run("returns").await;
    match way().as_str() {
        "ok" => Ok(()),
        way => Err(way.to_owned()),
    }
}
