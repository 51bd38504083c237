#[tokio_statemap::main(long_poll = 250)]
async fn main() {}
