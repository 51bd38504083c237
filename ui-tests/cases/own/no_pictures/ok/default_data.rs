//@ writes: own-no-pictures-2024-bins-own-no_pictures-ok-default_data.tasks.json
//@ writes: own-no-pictures-2024-bins-own-no_pictures-ok-default_data.workers.json
#[tokio_statemap::main]
async fn main() {}
