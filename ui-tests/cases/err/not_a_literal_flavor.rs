const FLAVOR: &str = "local";

#[tokio::main(flavor = FLAVOR)]
async fn main() {}
