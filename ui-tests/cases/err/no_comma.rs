#[tokio::main(flavor = "local" name = "x")]
async fn main() {}
