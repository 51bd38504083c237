#[tokio::main]
#[tokio_statemap::instrument]
async fn main() {}
