#[tokio_statemap::main(max_poll = "5ms")]
async fn main() {}
