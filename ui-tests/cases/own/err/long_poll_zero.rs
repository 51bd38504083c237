#[tokio_statemap::main(long_poll = "0ms")]
async fn main() {}
