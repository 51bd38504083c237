#[tokio::main(worker_threads = 1, worker_threads = "nonsense")]
async fn main() {}
