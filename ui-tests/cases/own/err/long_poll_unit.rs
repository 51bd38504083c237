#[tokio_statemap::main(long_poll = "1 day")]
async fn main() {}
