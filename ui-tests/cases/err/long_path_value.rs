#[tokio::main(foo::bar = 1)]
async fn main() {}
