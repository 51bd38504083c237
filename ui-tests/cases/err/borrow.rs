#[tokio::main]
async fn main() {
    let text = String::from("moved");
    drop(text);
    println!("{text}");
}
