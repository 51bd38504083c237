#[tokio_statemap::main(warn_after = "1s", name = "between", warn_after = "1s")]
async fn main() {}
