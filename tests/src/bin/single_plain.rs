//! A `main` under Tokio's attribute on one thread that returns nothing.

use tests::programs::{run, way};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    run(&way()).await
}
