#[tokio_statemap::main(html)]
async fn main() {}
