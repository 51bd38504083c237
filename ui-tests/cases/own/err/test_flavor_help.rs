//@ test
#[tokio_statemap::test(worker_threads = 2, trace = "none")]
async fn threads() {}

#[tokio_statemap::test(multi_thread)]
async fn path() {}
