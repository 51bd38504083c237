#[tokio_statemap::main(keep = "newest")]
async fn main() {}
