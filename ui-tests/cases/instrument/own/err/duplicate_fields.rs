#[tokio_statemap::instrument(fields = "{a}", fields = "{a}")]
async fn work(a: u8) {}
fn main() {}
