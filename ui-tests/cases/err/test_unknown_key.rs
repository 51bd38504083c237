//@ test
#[tokio::test(foo)]
async fn unknown() {}
