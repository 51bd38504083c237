#[tokio_statemap::main(schedule_latency = true, name = "between", schedule_latency = true)]
async fn main() {}
