//@ test
#[tokio::test]
async fn arguments(number: u8) {
    drop(number);
}
