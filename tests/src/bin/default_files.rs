//! A program without any key.

#[tokio_statemap::main]
async fn main() {
    tests::programs::run("returns").await
}
