//@ test
#[tokio_statemap::test(max_poll = 5)]
async fn number() {}
