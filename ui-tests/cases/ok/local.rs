use std::rc::Rc;

#[tokio::main(flavor = "local")]
async fn main() {
    let shared = Rc::new(5);
    let clone = Rc::clone(&shared);
    let task = tokio::task::spawn_local(async move { *clone + 1 });
    println!("{} {}", shared, task.await.unwrap());
}
