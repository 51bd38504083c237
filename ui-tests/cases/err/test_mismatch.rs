//@ test
#[tokio::test]
async fn mismatch() {
    Ok::<(), ()>(())
}
