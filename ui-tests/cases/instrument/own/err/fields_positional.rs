#[tokio_statemap::instrument(fields = "id={}")]
async fn work(id: u8) {}
fn main() {}
