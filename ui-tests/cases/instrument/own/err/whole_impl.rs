struct Thing;
#[tokio_statemap::instrument]
impl Thing {
    async fn work(&self) {}
}
fn main() {}
