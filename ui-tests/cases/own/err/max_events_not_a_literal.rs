#[tokio_statemap::main(max_events = 1_000 * 1_000)]
async fn main() {}
