//! The tiny program with our attribute.

#[tokio_statemap::main]
async fn main() {
    startup::print();
}
