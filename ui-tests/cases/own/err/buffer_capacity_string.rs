#[tokio_statemap::main(buffer_capacity = "4096")]
async fn main() {}
