//@ edition: 2021
#[tokio::main(worker_threads = 4, flavor = "local")]
async fn main() {}
