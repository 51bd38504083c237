//@ test
#[tokio_statemap::test(page = 7)]
async fn unknown() {}
