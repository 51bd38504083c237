#[tokio_statemap::main(html = true)]
async fn main() {}
