trait Thing {
    #[tokio_statemap::instrument]
    async fn work(&self);
}
fn main() {}
