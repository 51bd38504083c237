#[tokio::main]
struct NotAFunction;

fn main() {}
