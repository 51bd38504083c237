#[tokio_statemap::main(trace = "both", name = "between", trace = "both")]
async fn main() {}
