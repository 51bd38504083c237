#[tokio_statemap::main(tasks)]
async fn main() {}
