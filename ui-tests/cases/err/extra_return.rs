#[tokio::main]
async fn main() {
    return Ok(());
}
