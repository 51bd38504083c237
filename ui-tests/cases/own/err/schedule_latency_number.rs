#[tokio_statemap::main(schedule_latency = 1)]
async fn main() {}
