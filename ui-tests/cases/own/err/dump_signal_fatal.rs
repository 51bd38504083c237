#[tokio_statemap::main(dump_signal = "SIGKILL")]
async fn main() {}
