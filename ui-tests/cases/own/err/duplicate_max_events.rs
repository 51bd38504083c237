#[tokio_statemap::main(max_events = 1, name = "between", max_events = 1)]
async fn main() {}
