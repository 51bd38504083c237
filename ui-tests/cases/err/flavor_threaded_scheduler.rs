#[tokio::main(flavor = "threaded_scheduler")]
async fn main() {}
