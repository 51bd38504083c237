#[tokio_statemap::main(max_events = 0)]
async fn main() {}
