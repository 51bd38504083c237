//@ edition: 2021
#[tokio::main(flavor = "current_thread", unhandled_panic = "shutdown_runtime")]
async fn main() {
    tokio::spawn(async { panic!("on purpose") });
    std::future::pending::<()>().await;
}
