#[tokio_statemap::main(dump_signal = "SIGUSR1", name = "between", dump_signal = "SIGUSR1")]
async fn main() {}
