#[tokio_statemap::main(source = true, name = "between", source = true)]
async fn main() {}
