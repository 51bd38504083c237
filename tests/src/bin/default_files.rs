//! A program that gives no key at all.

#[tokio_statemap::main]
async fn main() {
    tests::programs::run("returns").await
}
