#[tokio_statemap::main(hooks = f, name = "between", hooks = f)]
async fn main() {}
