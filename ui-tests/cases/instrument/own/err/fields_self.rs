struct Thing;
impl Thing {
    #[tokio_statemap::instrument(fields = "{self:?}")]
    async fn work(&self) {}
}
fn main() {}
