#[tokio_statemap::instrument(fields = concat!("{", "id}"))]
async fn work(id: u8) {}
fn main() {}
