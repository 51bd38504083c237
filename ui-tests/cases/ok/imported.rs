use tokio::main as entry;

#[entry(flavor = "current_thread")]
async fn main() {
    println!("hello");
}
