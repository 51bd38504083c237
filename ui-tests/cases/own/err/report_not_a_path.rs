#[tokio_statemap::main(report = ())]
async fn main() {}
