#[tokio_statemap::main(hooks = nowhere)]
async fn main() {}
