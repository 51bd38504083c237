//! A program that prints on SIGUSR1 where its tasks wait.

#[cfg(unix)]
#[tokio_statemap::main(
    worker_threads = 2,
    dump_signal = "SIGUSR1",
    tasks = tests::programs::out("tasks.json")
)]
async fn main() {
    tests::programs::trees::run(&tests::programs::way()).await;
}

#[cfg(not(unix))]
fn main() {}
