mod reexport {
    pub mod inner {
        pub use tokio::runtime;
    }
}

#[tokio::main(crate = "reexport::inner")]
async fn main() {
    println!("hello");
}
