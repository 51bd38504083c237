#[tokio_statemap::main(dump_on = "poll > 1ms")]
async fn main() {}
