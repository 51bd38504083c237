#[tokio_statemap::instrument("work")]
async fn work() {}
fn main() {}
