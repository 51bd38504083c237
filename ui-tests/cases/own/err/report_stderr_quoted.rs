#[tokio_statemap::main(report = "stderr")]
async fn main() {}
