#[cfg_attr(all(), tokio::main)]
async fn main() {
    println!("hello");
}
