#[tokio_statemap::main(duration = "1ms", name = "between", duration = "1ms")]
async fn main() {}
