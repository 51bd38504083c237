#[tokio_statemap::main(long_poll = std::time::Duration::from_millis(1))]
async fn main() {}
