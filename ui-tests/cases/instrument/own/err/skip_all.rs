#[tokio_statemap::instrument(skip_all)]
async fn work() {}
fn main() {}
