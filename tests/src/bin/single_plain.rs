//! `main` returns nothing, one thread, as it is without us.

use tests::programs::{run, way};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    run(&way()).await
}
