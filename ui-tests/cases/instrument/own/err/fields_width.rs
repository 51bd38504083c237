#[tokio_statemap::instrument(fields = "{id:width$}")]
async fn work(id: u8, width: usize) {}
fn main() {}
