#[tokio::main(core_threads = 4)]
async fn main() {}
