//! A `main` under Tokio's attribute with two workers that returns nothing.

use tests::programs::{run, way};

#[tokio::main(worker_threads = 2)]
async fn main() {
    run(&way()).await
}
