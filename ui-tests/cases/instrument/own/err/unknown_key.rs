#[tokio_statemap::instrument(level = "info")]
async fn work() {}
fn main() {}
