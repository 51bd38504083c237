#[tokio::main(threaded_scheduler)]
async fn main() {}
