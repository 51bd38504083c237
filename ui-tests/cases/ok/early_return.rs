#[tokio::main]
async fn main() -> Result<(), String> {
    if std::env::args().count() > 1000 {
        return Ok(());
    }
    Err("early".to_owned())
}
