#[tokio::main]
async fn main() {
    struct Builder;
    impl Builder {
        fn new_multi_thread() -> u8 {
            1
        }
    }
    println!("{}", Builder::new_multi_thread());
}
