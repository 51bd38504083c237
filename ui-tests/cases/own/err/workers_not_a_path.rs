#[tokio_statemap::main(flavor = "current_thread", workers = Some("workers.json"))]
async fn main() {}
