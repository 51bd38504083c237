//@ test
#[tokio_statemap::test(html = "statemap.html")]
async fn page() {}
