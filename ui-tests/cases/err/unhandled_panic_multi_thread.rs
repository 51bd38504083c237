#[tokio::main(unhandled_panic = "ignore")]
async fn main() {}
