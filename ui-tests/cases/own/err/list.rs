#[tokio_statemap::main(tasks("tasks.json"))]
async fn main() {}
