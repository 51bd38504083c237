#[tokio_statemap::main(keep = "last", name = "between", keep = "last")]
async fn main() {}
