#[tokio::main(flavor = "multi_thread", start_paused = true)]
async fn main() {}
