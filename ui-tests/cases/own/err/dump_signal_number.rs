#[tokio_statemap::main(dump_signal = 10 + 2)]
async fn main() {}
