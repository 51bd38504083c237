#[tokio::main]
async fn main() {
    let _: u8 = "7".parse()?;
}
