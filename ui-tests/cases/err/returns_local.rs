#[tokio::main]
async fn work<'a>() -> &'a str {
    let text = String::new();
    &text
}

fn main() {
    work();
}
