#[tokio::main(flavor = "current_thread")]
async fn main() {
    panic!("on purpose");
}
