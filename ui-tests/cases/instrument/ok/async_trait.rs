//! The methods that `#[async_trait]` makes.

use async_trait::async_trait;

#[async_trait]
trait Service: Sync {
    async fn call(&self, n: u8) -> Result<u8, String>;

    #[tokio_statemap::instrument]
    async fn call_twice(&self, n: u8) -> Result<u8, String> {
        Ok(self.call(n).await? + self.call(n).await?)
    }
}

struct Adder(u8);

#[async_trait]
impl Service for Adder {
    #[tokio_statemap::instrument(fields = "{n}")]
    async fn call(&self, n: u8) -> Result<u8, String> {
        tokio::task::yield_now().await;
        if n == 0 {
            return Err("zero".to_owned());
        }
        Ok(self.0 + n)
    }
}

#[async_trait(?Send)]
trait Local {
    async fn call<'a, T: AsRef<str> + ?Sized>(self: Box<Self>, text: &'a T, pair: (u8, u8)) -> &'a str;
}

#[async_trait(?Send)]
impl Local for Adder {
    #[tokio_statemap::instrument]
    async fn call<'a, T: AsRef<str> + ?Sized>(mut self: Box<Self>, text: &'a T, (a, _): (u8, u8)) -> &'a str {
        self.0 += a;
        let rc = std::rc::Rc::new(self.0);
        tokio::task::yield_now().await;
        if *rc > 1 { text.as_ref() } else { "" }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let service: Box<dyn Service + Send> = Box::new(Adder(2));
    let called = tokio::spawn(async move {
        (service.call(0).await, service.call_twice(1).await)
    });
    println!("{:?}", called.await.unwrap());
    println!("{}", Local::call(Box::new(Adder(1)), &String::from("text"), (1, 2)).await);
}
