#[tokio_statemap::main(dump_limit = "0 files")]
async fn main() {}
