//! Receivers, and methods of traits.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

#[derive(Clone, Default)]
struct Counter {
    count: u8,
    name: String,
}

impl Counter {
    #[tokio_statemap::instrument]
    async fn none() -> Self {
        Self { count: 1, name: String::from("n") }
    }

    #[tokio_statemap::instrument]
    async fn reference(&self) -> u8 {
        self.count
    }

    #[tokio_statemap::instrument]
    async fn exclusive(&mut self, by: u8) -> &mut Self {
        self.count += by;
        self
    }

    #[tokio_statemap::instrument]
    async fn value(self) -> String {
        self.name
    }

    #[tokio_statemap::instrument]
    async fn mutable(mut self, n: u8) -> Self {
        self.count = n;
        self
    }

    #[tokio_statemap::instrument]
    async fn boxed(self: Box<Self>) -> u8 {
        let Counter { count, .. } = *self;
        count
    }

    #[tokio_statemap::instrument]
    async fn arc(self: Arc<Self>, other: Rc<Self>) -> u8 {
        self.count + other.count
    }

    #[tokio_statemap::instrument]
    async fn pinned(mut self: Pin<&mut Self>) {
        self.as_mut().count += 1;
        self.count += 1;
    }

    #[tokio_statemap::instrument]
    async fn named<'a>(self: &'a Self, _other: &str) -> &'a str {
        &self.name
    }
}

#[allow(async_fn_in_trait)]
trait Service {
    const NAME: &'static str;
    type Answer: Default;

    async fn call(&self) -> Self::Answer;

    #[tokio_statemap::instrument]
    async fn call_twice(&self) -> (Self::Answer, Self::Answer) {
        (self.call().await, self.call().await)
    }

    #[tokio_statemap::instrument]
    async fn make() -> Self::Answer
    where
        Self: Sized,
    {
        let _ = Self::NAME;
        Self::Answer::default()
    }
}

impl Service for Counter {
    const NAME: &'static str = "counter";
    type Answer = u8;

    #[tokio_statemap::instrument(name = "call", fields = "")]
    async fn call(&self) -> u8 {
        self.count
    }
}

impl<T: Service + ?Sized> Service for &T {
    const NAME: &'static str = T::NAME;
    type Answer = T::Answer;

    #[tokio_statemap::instrument]
    async fn call(&self) -> T::Answer {
        (**self).call().await
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut counter = Counter::none().await;
    counter.exclusive(2).await.exclusive(3).await;
    println!("{} {}", counter.reference().await, counter.named("").await);
    Pin::new(&mut counter).pinned().await;
    println!("{:?} {:?}", counter.call_twice().await, (&&counter).call_twice().await);
    println!("{} {}", Counter::make().await, counter.clone().value().await);
    println!("{}", counter.clone().mutable(7).await.count);
    println!("{}", Box::new(counter.clone()).boxed().await);
    println!("{}", Arc::new(counter.clone()).arc(Rc::new(counter)).await);
}
