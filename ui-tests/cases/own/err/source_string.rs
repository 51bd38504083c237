#[tokio_statemap::main(source = "no")]
async fn main() {}
