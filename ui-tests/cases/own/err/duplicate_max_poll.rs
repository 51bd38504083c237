//@ test
#[tokio_statemap::test(max_poll = "5ms", max_poll = "6ms")]
async fn twice() {}
