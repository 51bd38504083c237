#[tokio_statemap::main(start_after = "1 s")]
async fn main() {}
