//! A program whose attribute has no key.

#[tokio_statemap::main]
async fn main() {
    tests::programs::run("returns").await
}
