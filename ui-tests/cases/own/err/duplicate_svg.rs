#[tokio_statemap::main(svg = "a", name = "between", svg = "a")]
async fn main() {}
