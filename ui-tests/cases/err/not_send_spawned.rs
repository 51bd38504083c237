#[tokio::main]
async fn main() {
    let shared = std::rc::Rc::new(1);
    tokio::spawn(async move {
        tokio::task::yield_now().await;
        println!("{shared}");
    });
}
