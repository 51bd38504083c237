#[tokio_statemap::main(page)]
async fn main() {}
