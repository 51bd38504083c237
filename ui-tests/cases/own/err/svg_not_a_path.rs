#[tokio_statemap::main(svg = 7 + 1)]
async fn main() {}
