#[tokio_statemap::main(duration = "0.5ns")]
async fn main() {}
