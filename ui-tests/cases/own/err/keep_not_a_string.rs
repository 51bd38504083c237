#[tokio_statemap::main(keep = 1)]
async fn main() {}
