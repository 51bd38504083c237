//@ test
#[tokio::test]
async fn warns() {
    let unused = 1;
}
