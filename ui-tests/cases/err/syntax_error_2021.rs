//@ edition: 2021
#[tokio::main]
async fn main() -> Result<(), String> {
    println!("hello")
    Ok(())
}
