#[tokio::main(single_threaded)]
async fn main() {}
