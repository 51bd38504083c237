#[tokio_statemap::main(tasks = std::env::var("NOT_SET")?)]
async fn main() {}
