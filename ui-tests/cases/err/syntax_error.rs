#[tokio::main]
async fn main() {
    let x = ;
}
