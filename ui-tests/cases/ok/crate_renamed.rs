//@ edition: 2021
use tokio as runtimes;

#[tokio::main(crate = "runtimes", flavor = "current_thread", unhandled_panic = "ignore")]
async fn main() {
    println!("hello");
}
