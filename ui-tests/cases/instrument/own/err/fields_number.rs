#[tokio_statemap::instrument(fields = "id={0}")]
async fn work(id: u8) {}
fn main() {}
