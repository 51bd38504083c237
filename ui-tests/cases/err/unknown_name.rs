#[tokio::main]
async fn main() {
    println!("{}", nowhere);
    nothing().await;
}
