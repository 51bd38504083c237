#[tokio::main("multi_thread")]
async fn main() {}
