#[tokio_statemap::main(report = stdout)]
async fn main() {}
