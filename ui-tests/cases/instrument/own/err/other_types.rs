//! rustc points at what it points at without the attribute, but the type is the wrapper's. (What returns has
//! no place but the function's name.)

use std::future::Future;
use std::pin::Pin;

#[tokio_statemap::instrument]
fn wrong_output() -> impl Future<Output = u8> {
    async { "text" }
}

#[tokio_statemap::instrument]
fn wrong_boxed(n: u8) -> Pin<Box<dyn Future<Output = u8>>> {
    Box::pin(async move {
        if n == 1 {
            return "text";
        }
        n
    })
}

#[tokio_statemap::instrument]
async fn returns() -> ! {
    1
}

fn main() {}
