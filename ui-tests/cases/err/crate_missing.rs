#[tokio::main(crate = "nowhere")]
async fn main() {}
