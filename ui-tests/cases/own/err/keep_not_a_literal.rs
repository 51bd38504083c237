#[tokio_statemap::main(keep = last)]
async fn main() {}
