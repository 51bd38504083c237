//@ edition: 2021
//@ no-run
#[tokio::main]
async fn main() -> ! {
    loop {
        tokio::task::yield_now().await;
    }
}
