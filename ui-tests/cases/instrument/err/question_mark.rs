#[tokio_statemap::instrument]
async fn unit() {
    std::fs::read("file")?;
}

#[tokio_statemap::instrument]
async fn wrong_error() -> Result<(), u8> {
    std::fs::read("file")?;
    Ok(())
}

#[tokio_statemap::instrument]
async fn option_in_result(list: &[u8]) -> Result<u8, ()> {
    Ok(*list.first()?)
}

fn main() {}
