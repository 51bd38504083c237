#[tokio_statemap::main(dump_after = "1s", name = "between", dump_after = "1s")]
async fn main() {}
