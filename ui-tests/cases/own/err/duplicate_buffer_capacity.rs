#[tokio_statemap::main(buffer_capacity = 1, name = "between", buffer_capacity = 1)]
async fn main() {}
