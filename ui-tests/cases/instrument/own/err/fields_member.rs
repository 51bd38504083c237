#[tokio_statemap::instrument(fields = "id={id.0}")]
async fn work(id: (u8, u8)) {}
fn main() {}
