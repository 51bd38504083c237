#[tokio_statemap::main(start_after = "")]
async fn main() {}
