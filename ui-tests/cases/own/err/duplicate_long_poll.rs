#[tokio_statemap::main(long_poll = "1ms", name = "between", long_poll = "1ms")]
async fn main() {}
