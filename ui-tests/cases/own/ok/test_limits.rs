//@ test
#[tokio_statemap::test(max_poll = "60s", max_ready = "60s")]
async fn within_the_limits() {
    tokio::spawn(tokio::task::yield_now()).await.unwrap();
}

#[should_panic(expected = "its own")]
#[tokio_statemap::test(max_poll = "5ms", trace = "tasks")]
async fn its_own_panic_stays() {
    std::thread::sleep(std::time::Duration::from_millis(60));
    panic!("its own");
}
