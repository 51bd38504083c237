#[tokio::main]
async fn main() {
    let values = Vec::new();
}
