#[tokio_statemap::main(spawn_location = !true)]
async fn main() {}
