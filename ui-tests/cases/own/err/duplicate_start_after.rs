#[tokio_statemap::main(start_after = "1ms", name = "between", start_after = "1ms")]
async fn main() {}
