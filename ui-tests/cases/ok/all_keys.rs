#[tokio::main(
    flavor = "current_thread",
    start_paused = false,
    unhandled_panic = "ignore",
    name = "all",
    crate = "tokio",
)]
async fn main() {
    println!("hello");
}
