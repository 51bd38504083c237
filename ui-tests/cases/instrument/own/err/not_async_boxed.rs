#[tokio_statemap::instrument]
fn work() -> std::pin::Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(std::future::ready(()));
    Box::pin(std::future::ready(()))
}
fn main() {}
