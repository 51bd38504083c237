#[tokio_statemap::main(dump_limit = "3/h, 20 pages")]
async fn main() {}
