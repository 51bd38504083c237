//! A plain Tokio program.

#[tokio::main]
async fn main() {
    startup::print();
}
