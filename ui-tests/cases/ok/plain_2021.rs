//@ edition: 2021
#[tokio::main]
async fn main() {
    let task = tokio::spawn(async { 7 });
    println!("{}", task.await.unwrap());
}
