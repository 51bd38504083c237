use std::process::Termination;

#[tokio::main]
async fn main() -> impl Termination {
    "hello"
}
