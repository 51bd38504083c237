//! `main` returns nothing, two workers, as it is without us.

use tests::programs::{run, way};

#[tokio::main(worker_threads = 2)]
async fn main() {
    run(&way()).await
}
