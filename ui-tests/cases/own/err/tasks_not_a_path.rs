#[tokio_statemap::main(tasks = 7 + 1)]
async fn main() {}
