#[tokio::main]
async fn main() -> Result<(), String> {
    if true {
        Ok(())
    }
}
