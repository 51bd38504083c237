#[tokio::main]
async fn main() -> u64 {
    7
}
