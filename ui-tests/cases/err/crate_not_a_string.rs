#[tokio::main(crate = 456)]
async fn main() {}
