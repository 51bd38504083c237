#[tokio_statemap::main(trace = true)]
async fn main() {}
