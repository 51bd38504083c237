#[tokio_statemap::main(tasks = "tasks.json", html = "statemap.html", svg = "statemap.svg")]
async fn main() {}
