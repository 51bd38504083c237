#[tokio_statemap::main(dump_on = "panic, file > 1GB")]
async fn main() {}
