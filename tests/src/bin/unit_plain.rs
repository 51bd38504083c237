//! `main` returns nothing, two workers, under Tokio's attribute.

use tests::programs::{run, way};

#[tokio::main(worker_threads = 2)]
async fn main() {
    run(&way()).await
}
