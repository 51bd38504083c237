//@ test
#[tokio::test]
#[tokio::test]
async fn twice() {}
