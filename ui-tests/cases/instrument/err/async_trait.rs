use async_trait::async_trait;

#[async_trait]
trait Trait {
    async fn method(&self, a: &str) -> u8;
    async fn other(&self, a: std::rc::Rc<u8>) -> u8;
}

struct Thing;

#[async_trait]
impl Trait for Thing {
    #[tokio_statemap::instrument]
    async fn method(&self, a: &str) -> u8 {
        a
    }

    #[tokio_statemap::instrument]
    async fn other(&self, a: std::rc::Rc<u8>) -> u8 {
        tokio::task::yield_now().await;
        *a
    }
}

fn main() {}
