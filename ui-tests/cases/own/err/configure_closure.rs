#[tokio_statemap::main(configure = |builder| {})]
async fn main() {}
