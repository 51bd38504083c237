#[tokio_statemap::main(duration = "6000000h")]
async fn main() {}
