#[tokio::main(current_thread)]
async fn main() {}
