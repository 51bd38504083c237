#[tokio_statemap::main(svg = std::env::var("NOT_SET")?)]
async fn main() {}
