trait Service {
    #[tokio::main]
    async fn run();
}

fn main() {}
