#[tokio_statemap::instrument(fields = "{name} {idd}")]
async fn work(id: u8, name: &str, (a, b): (u8, u8), r#type: u8) {}
fn main() {}
