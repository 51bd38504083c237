#[tokio_statemap::main(dump_after = 1)]
async fn main() {}
