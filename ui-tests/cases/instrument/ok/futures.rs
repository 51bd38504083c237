//! Functions that return futures.

use std::future::Future;
use std::pin::Pin;

#[tokio_statemap::instrument]
fn block(a: u8) -> impl Future<Output = u8> + Send {
    async move { a + 1 }
}

#[tokio_statemap::instrument(fields = "{text}")]
fn prepared(text: &str) -> impl Future<Output = usize> + use<> {
    let length = text.len();
    println!("called");
    async move {
        tokio::task::yield_now().await;
        length
    }
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[tokio_statemap::instrument(name = "boxed", fields = "{n}")]
fn boxed<'a>(list: &'a [u8], n: usize) -> BoxFuture<'a, Option<&'a u8>> {
    Box::pin(async move {
        if n == 0 {
            return None;
        }
        list.get(n).or(boxed(list, n - 1).await)
    })
}

#[tokio_statemap::instrument]
fn by_path() -> Pin<std::boxed::Box<dyn Future<Output = ()>>> {
    if std::env::args().count() > 100 {
        println!("many arguments");
    }
    ::std::boxed::Box::pin(async {})
}

struct Service;

impl Service {
    #[tokio_statemap::instrument]
    fn call(&self) -> impl Future<Output = &Self> {
        async move { self }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("{} {}", block(1).await, tokio::spawn(block(2)).await.unwrap());
    let later = prepared("abc");
    println!("not polled yet");
    println!("{}", later.await);
    println!("{:?} {:?}", boxed(&[1, 2], 4).await, boxed(&[1, 2], 0).await);
    by_path().await;
    Service.call().await;
}
