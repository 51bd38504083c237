#[tokio::main(foo)]
async fn main() {}
