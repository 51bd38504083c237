#[tokio::main]
async fn main() -> Result<(), String> {
    if true {
        return 7;
    }
    Ok(())
}
