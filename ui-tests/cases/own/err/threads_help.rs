#[tokio_statemap::main(flavor = "current_thread", worker_threads = 2, tasks = "tasks.json")]
async fn main() {}
