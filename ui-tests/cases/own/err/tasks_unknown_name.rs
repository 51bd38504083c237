#[tokio_statemap::main(tasks = nowhere::path())]
async fn main() {}
