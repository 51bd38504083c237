//! Above `#[tokio::main]` it still sees the `async`.

#[tokio_statemap::instrument]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), String> {
    println!("{}", nested().await);
    Ok(())
}

#[tokio_statemap::instrument]
async fn nested() -> u8 {
    #[tokio_statemap::instrument]
    async fn inside(n: u8) -> u8 {
        n
    }
    let closure = async |n| inside(n).await;
    closure(1).await
}
