//! Generic functions.

use std::error::Error;
use std::fmt::{Debug, Display};
use std::ops::Add;

#[tokio_statemap::instrument]
async fn sum<T: Add<Output = T> + Copy, const N: usize>(items: [T; N], zero: T) -> T
where
    T: Debug,
{
    let mut sum = zero;
    for item in items {
        tokio::task::yield_now().await;
        sum = sum + item;
    }
    sum
}

#[tokio_statemap::instrument]
async fn impl_argument(value: impl Display, _unused: impl Debug, call: impl AsyncFn(u8) -> u8) -> String {
    format!("{value}{}", call(1).await)
}

#[tokio_statemap::instrument]
async fn impl_returned(n: u8) -> impl Display + use<> {
    if n == 0 {
        return format!("{}", Box::pin(async { 1 }).await);
    }
    "other".to_owned()
}

#[tokio_statemap::instrument]
async fn impl_in_result(n: &str) -> Result<impl Fn(u8) -> u8, Box<dyn Error + Send + Sync>> {
    let n: u8 = n.parse()?;
    if n == 1 {
        return Err("one".into());
    }
    if n == 2 {
        Err(std::fmt::Error)?;
    }
    Ok(move |m| n + m)
}

#[tokio_statemap::instrument]
async fn impl_in_tuple() -> (impl Display, Box<dyn Debug>, fn(u8) -> u8) {
    (1, Box::new("boxed"), |n| n + 1)
}

struct Wrap<T>(T);

impl<T: Clone + Display> Wrap<T> {
    #[tokio_statemap::instrument(fields = "{other:?}")]
    async fn both<U: Into<T>>(&self, other: u8, more: U) -> (T, T) {
        let _ = other;
        (self.0.clone(), more.into())
    }

    #[tokio_statemap::instrument]
    async fn unwrap(self) -> T {
        self.0
    }
}

// The field's type is generic, so it has to be owned.
#[tokio_statemap::instrument(fields = "{value} {reference:?} {list:?}")]
async fn fields<T, U>(value: T, reference: &U, list: &[u8], text: &str) -> usize
where
    T: Display + Clone + Send + Sync + 'static,
    U: Debug + Clone + Send + Sync + 'static,
{
    format!("{value}{reference:?}{list:?}{text}").len()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("{} {}", sum([1, 2, 3], 0).await, sum([1.5], 0.0).await);
    println!("{}", impl_argument("a", (), async |n| n + 1).await);
    println!("{} {}", impl_returned(0).await, impl_returned(1).await);
    for n in ["1", "2", "3", "x"] {
        match impl_in_result(n).await {
            Ok(add) => println!("{}", add(1)),
            Err(err) => println!("{err}"),
        }
    }
    let (a, b, c) = impl_in_tuple().await;
    println!("{a} {b:?} {}", c(1));
    println!("{:?} {}", Wrap(String::from("a")).both(1, "b").await, Wrap(5).unwrap().await);
    println!("{}", fields(1.5, &Some("a"), &[1, 2], "text").await);
}
