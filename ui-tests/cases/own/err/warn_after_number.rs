#[tokio_statemap::main(warn_after = 100)]
async fn main() {}
