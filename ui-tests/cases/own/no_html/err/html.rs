#[tokio_statemap::main(svg = "statemap.svg", html = "statemap.html", tasks = "tasks.json")]
async fn main() {}
