#[tokio_statemap::main(buffer_capacity = 1.5)]
async fn main() {}
