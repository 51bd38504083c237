#[tokio::main(name = 7)]
async fn main() {}
