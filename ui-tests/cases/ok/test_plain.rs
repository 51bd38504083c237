//@ test
#[tokio::test]
async fn passes() {
    tokio::task::yield_now().await;
}

#[tokio::test]
async fn fails() {
    panic!("on purpose");
}
