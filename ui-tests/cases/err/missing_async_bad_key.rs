#[tokio::main(nonsense = 1)]
fn main() {}
