#[tokio_statemap::main(task = "tasks.json")]
async fn main() {}
