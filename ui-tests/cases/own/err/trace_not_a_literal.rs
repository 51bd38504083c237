#[tokio_statemap::main(trace = both)]
async fn main() {}
