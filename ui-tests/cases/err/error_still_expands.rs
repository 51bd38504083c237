#[tokio::main(foo = "bar")]
async fn main() -> Result<(), String> {
    let number: u8 = "text";
    Ok(())
}
