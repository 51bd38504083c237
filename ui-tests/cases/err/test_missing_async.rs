//@ test
#[tokio::test]
fn not_async() {}
