#[tokio_statemap::main(spawn_location = true, name = "between", spawn_location = true)]
async fn main() {}
