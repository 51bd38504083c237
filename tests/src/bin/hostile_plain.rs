//! The program `hostile` under Tokio's attribute.

use tests::programs::{hostile, way};

#[tokio::main(worker_threads = 2)]
async fn main() {
    hostile::run(&way()).await
}
