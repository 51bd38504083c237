//@ edition: 2021
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), String> {
    Ok(
        "several lines",
    )
}
