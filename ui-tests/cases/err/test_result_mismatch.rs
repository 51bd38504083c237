//@ test
//@ edition: 2021
#[tokio::test]
async fn mismatch() -> Result<(), String> {
    println!("hello");
}
