#[tokio::main(flavor = 123)]
async fn main() {}
