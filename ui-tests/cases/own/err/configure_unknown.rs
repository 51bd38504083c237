#[tokio_statemap::main(configure = nowhere)]
async fn main() {}
