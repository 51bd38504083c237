//@ test
#[tokio_statemap::test(html = 7)]
async fn unknown() {}
