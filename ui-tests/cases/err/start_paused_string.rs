#[tokio::main(flavor = "current_thread", start_paused = "true")]
async fn main() {}
