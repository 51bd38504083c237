#[tokio_statemap::main(html = nowhere::path())]
async fn main() {}
