//@ test
#[tokio::test]
async fn moved() {
    let text = String::new();
    drop(text);
    drop(text);
}
