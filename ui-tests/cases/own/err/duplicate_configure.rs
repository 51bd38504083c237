#[tokio_statemap::main(configure = f, name = "between", configure = f)]
async fn main() {}
