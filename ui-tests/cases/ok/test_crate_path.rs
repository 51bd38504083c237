//@ test
mod reexport {
    pub use tokio::{pin, runtime};
}

#[tokio::test(crate = "reexport")]
async fn passes() {}
