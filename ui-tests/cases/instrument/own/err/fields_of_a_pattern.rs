#[tokio_statemap::instrument(fields = "{a}")]
async fn work((a, b): (u8, u8)) {}
fn main() {}
