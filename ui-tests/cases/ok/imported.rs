use tokio::main as start;

#[start(flavor = "current_thread")]
async fn main() {
    println!("hello");
}
