//! Functions that call themselves.

use std::future::Future;
use std::pin::Pin;

#[tokio_statemap::instrument]
async fn depth(n: u32) -> u32 {
    if n == 0 { 0 } else { 1 + Box::pin(depth(n - 1)).await }
}

#[tokio_statemap::instrument(fields = "{n}")]
async fn even(n: u32) -> bool {
    n == 0 || odd(n - 1).await
}

#[tokio_statemap::instrument]
fn odd(n: u32) -> Pin<Box<dyn Future<Output = bool> + Send>> {
    Box::pin(async move { n != 0 && even(n - 1).await })
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("{}", depth(5).await);
    println!("{}", tokio::spawn(even(7)).await.unwrap());
}
