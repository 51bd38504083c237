//! Functions under the attribute that run more than once.

use std::thread;

#[tokio_statemap::main(
    flavor = "current_thread",
    html = "{bin}.html",
    tasks = "data/tasks.json",
    report = "report"
)]
async fn work(tasks: usize) {
    for _ in 0..tasks {
        tokio::spawn(async {}).await.unwrap();
    }
}

#[tokio_statemap::main(flavor = "current_thread", html = "twice.html")]
async fn with_the_same_path() {}

#[tokio_statemap::main(flavor = "current_thread", html = "link.html")]
async fn with_a_link_to_it() {}

#[tokio_statemap::main(flavor = "current_thread", svg = "side.svg")]
async fn in_parallel() {}

#[tokio_statemap::main(flavor = "current_thread", workers = "/dev/stdout", report = "/dev/null")]
async fn with_a_stream() {}

fn main() {
    for tasks in 1..=3 {
        work(tasks);
    }
    with_the_same_path();
    with_a_link_to_it();
    thread::scope(|scope| {
        scope.spawn(in_parallel);
        scope.spawn(in_parallel);
    });
    with_a_stream();
    with_a_stream();
}
