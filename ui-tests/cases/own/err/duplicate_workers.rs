#[tokio_statemap::main(workers = "a", name = "between", workers = "a")]
async fn main() {}
