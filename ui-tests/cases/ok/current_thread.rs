#[tokio::main(flavor = "current_thread")]
async fn main() {
    let here = std::thread::current().id();
    let there = tokio::spawn(async { std::thread::current().id() });
    println!("{}", here == there.await.unwrap());
}
