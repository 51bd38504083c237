#[tokio::main(basic_scheduler)]
async fn main() {}
