#[tokio_statemap::main(task = std::env::temp_dir())]
async fn main() {}
