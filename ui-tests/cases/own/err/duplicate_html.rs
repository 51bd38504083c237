#[tokio_statemap::main(html = "a", name = "between", html = "a")]
async fn main() {}
