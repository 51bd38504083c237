#[tokio_statemap::main(stacks = true, name = "between", stacks = true)]
async fn main() {}
