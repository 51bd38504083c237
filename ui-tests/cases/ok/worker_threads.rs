#[tokio::main(flavor = "multi_thread", worker_threads = 3)]
async fn main() {
    println!("{}", tokio::runtime::Handle::current().metrics().num_workers());
}
