#[tokio_statemap::main(tasks = "a", name = "between", tasks = "a")]
async fn main() {}
