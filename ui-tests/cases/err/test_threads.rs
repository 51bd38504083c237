//@ test
#[tokio::test(worker_threads = 2)]
async fn threads() {}
