#[tokio_statemap::main(stacks = "no")]
async fn main() {}
