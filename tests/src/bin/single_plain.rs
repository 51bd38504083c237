//! `main` returns nothing, one thread, under Tokio's attribute.

use tests::programs::{run, way};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    run(&way()).await
}
