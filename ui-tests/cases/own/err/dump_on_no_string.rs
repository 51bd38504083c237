#[tokio_statemap::main(dump_on = 100)]
async fn main() {}
