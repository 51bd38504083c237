#[tokio_statemap::main(flavor = "local", hooks)]
async fn main() {}
