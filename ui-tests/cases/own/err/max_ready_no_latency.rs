//@ test
#[tokio_statemap::test(max_ready = "20ms", schedule_latency = false)]
async fn no_latency() {}
