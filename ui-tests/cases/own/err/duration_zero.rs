#[tokio_statemap::main(duration = "0s")]
async fn main() {}
