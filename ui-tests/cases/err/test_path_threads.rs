//@ test
#[tokio::test(threaded_scheduler)]
async fn threads() {}
