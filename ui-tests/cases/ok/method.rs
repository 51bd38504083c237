struct Service(u8);

impl Service {
    #[tokio::main(flavor = "current_thread")]
    async fn run(&mut self) -> u8 {
        self.0 += 1;
        tokio::task::yield_now().await;
        self.0
    }
}

fn main() {
    println!("{}", Service(1).run());
}
