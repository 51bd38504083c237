#[tokio_statemap::main(dump_on = "panic", name = "between", dump_on = "panic")]
async fn main() {}
