#[tokio_statemap::main(buffer_capacity = 16_777_217)]
async fn main() {}
