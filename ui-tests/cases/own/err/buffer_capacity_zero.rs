#[tokio_statemap::main(buffer_capacity = 0)]
async fn main() {}
