#[tokio_statemap::main(max_ready = "20ms")]
async fn main() {}
