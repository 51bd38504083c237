#[tokio_statemap::instrument(name = " ")]
async fn work() {}
fn main() {}
