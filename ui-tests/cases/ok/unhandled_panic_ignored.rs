#[tokio::main(flavor = "local", unhandled_panic = "ignore")]
async fn main() {
    let task = tokio::spawn(async { panic!("on purpose") });
    println!("{}", task.await.is_err());
}
