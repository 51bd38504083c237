#[tokio::main]
async fn main() -> Result<(), String> {
    println!("hello");
    Ok(7)
}
