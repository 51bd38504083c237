#[tokio::main(flavor = "basic_scheduler")]
async fn main() {}
