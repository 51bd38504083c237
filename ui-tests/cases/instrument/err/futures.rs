use std::pin::Pin;

#[tokio_statemap::instrument]
fn borrows_an_argument(n: u8) -> Pin<Box<dyn Future<Output = u8>>> {
    Box::pin(async { n })
}

#[tokio_statemap::instrument]
fn not_send(n: std::rc::Rc<u8>) -> Pin<Box<dyn Future<Output = u8> + Send>> {
    Box::pin(async move { *n })
}

fn main() {}
