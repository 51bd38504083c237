#[tokio::main]
async fn main() {
    tokio::spawn(async { std::process::exit(5) }).await.unwrap();
}
