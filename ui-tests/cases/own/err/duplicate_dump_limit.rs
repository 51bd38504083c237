#[tokio_statemap::main(dump_limit = "1/h", name = "between", dump_limit = "1/h")]
async fn main() {}
