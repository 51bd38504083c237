//@ edition: 2021
#[tokio::main]
async fn main() -> Result<(), std::num::ParseIntError> {
    let number: u8 = "seven".parse()?;
    println!("{number}");
    Ok(())
}
