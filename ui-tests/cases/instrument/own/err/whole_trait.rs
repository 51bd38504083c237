#[tokio_statemap::instrument]
pub trait Thing {
    async fn work(&self) {}
}
fn main() {}
