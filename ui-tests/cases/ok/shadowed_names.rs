#![allow(dead_code)]
struct Builder;
struct Some;
struct Into;
mod core {}
mod std {}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("hello");
}
