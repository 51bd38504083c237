//@ writes: tasks.json
fn configure(builder: &mut tokio::runtime::Builder) {
    builder.max_blocking_threads(1);
}

#[tokio_statemap::main(flavor = "local", tasks = "tasks.json", configure = configure)]
async fn main() {
    let shared = std::rc::Rc::new(1);
    tokio::task::spawn_local(async move { drop(shared) }).await.unwrap();
}
