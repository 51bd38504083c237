#[tokio::main(worker_threads = 1 + 1)]
async fn main() {}
