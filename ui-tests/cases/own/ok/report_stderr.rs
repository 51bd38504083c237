//@ writes: tasks.json
#[tokio_statemap::main(report = stderr, tasks = "tasks.json")]
async fn main() {}
