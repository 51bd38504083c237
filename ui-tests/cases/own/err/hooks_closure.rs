#[tokio_statemap::main(hooks = || tokio_statemap::Hooks::new())]
async fn main() {}
