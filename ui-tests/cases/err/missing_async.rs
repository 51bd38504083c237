#[tokio::main]
fn main() {
    println!("hello");
}
