#[tokio_statemap::main(hooks = "my_hooks")]
async fn main() {}
