#[tokio::main]
async fn work(number: u8) -> String {
    let text = number;
    text
}

fn main() {
    work(1);
}
