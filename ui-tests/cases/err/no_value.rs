#[tokio::main(flavor = )]
async fn main() {}
