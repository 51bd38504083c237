#[tokio_statemap::instrument(name = 1)]
async fn work() {}
fn main() {}
