#[tokio::main]
async fn main() {}
