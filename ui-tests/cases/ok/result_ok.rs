use std::error::Error;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let number: u8 = "7".parse()?;
    println!("{number}");
    Ok(())
}
