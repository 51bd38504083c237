#[tokio::main]
async fn main() {
    let text = String::new();
    text.
}
