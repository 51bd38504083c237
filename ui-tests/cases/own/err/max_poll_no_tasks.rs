//@ test
#[tokio_statemap::test(trace = "workers", max_poll = "5ms")]
async fn no_tasks() {}
