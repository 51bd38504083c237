#[tokio_statemap::instrument(name = "a", name = "b")]
async fn work() {}
fn main() {}
