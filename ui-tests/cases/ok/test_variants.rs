//@ test
//@ edition: 2021
/// Docs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn multi_thread() {
    assert_eq!(tokio::runtime::Handle::current().metrics().num_workers(), 2);
}

#[tokio::test(start_paused = true)]
async fn start_paused() {
    tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
}

#[tokio::test]
async fn result() -> Result<(), String> {
    Ok(())
}

#[tokio::test]
#[should_panic(expected = "on purpose")]
async fn should_panic() {
    panic!("on purpose");
}

#[tokio::test]
#[ignore = "never"]
async fn ignored() {
    panic!();
}

#[tokio::test(flavor = "local")]
async fn not_send() {
    let shared = std::rc::Rc::new(1);
    tokio::task::yield_now().await;
    assert_eq!(*shared, 1);
}

mod module {
    #[tokio::test(name = "named", unhandled_panic = "ignore")]
    pub(crate) async fn r#match() {}
}
