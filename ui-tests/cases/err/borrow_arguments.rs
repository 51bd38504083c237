#[tokio::main]
async fn work(text: &String) -> &'static str {
    text
}

fn main() {
    work(&String::new());
}
