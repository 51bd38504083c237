#[tokio::main]
async fn main() {
    println!("hello");
    Ok::<(), ()>(())
}
