#[tokio_statemap::main(warn_after = "0ms")]
async fn main() {}
