#[tokio::main(flavor = "local", flavor = "local")]
async fn main() {}
