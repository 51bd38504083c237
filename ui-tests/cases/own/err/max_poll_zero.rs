//@ test
#[tokio_statemap::test(max_poll = "0ms")]
async fn zero() {}
