#[tokio_statemap::main(report = stderr, name = "between", report = stderr)]
async fn main() {}
