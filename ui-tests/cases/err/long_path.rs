#[tokio::main(foo::bar)]
async fn main() {}
