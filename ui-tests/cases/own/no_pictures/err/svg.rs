#[tokio_statemap::main(tasks = "tasks.json", svg = "statemap.svg", html = "statemap.html")]
async fn main() {}
