#[tokio_statemap::main(trace = "task")]
async fn main() {}
