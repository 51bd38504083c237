#[tokio::main(flavor = "foo")]
async fn main() {}
