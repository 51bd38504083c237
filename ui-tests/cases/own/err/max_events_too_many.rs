#[tokio_statemap::main(max_events = 99999999999999999999999)]
async fn main() {}
