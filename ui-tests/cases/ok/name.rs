#[tokio::main(name = "mine")]
async fn main() {
    println!("{:?}", tokio::runtime::Handle::current().name());
}
