//@ edition: 2021
#[tokio::main]
async fn main() {
    let text = String::from("borrowed");
    tokio::spawn(async { println!("{text}") });
}
