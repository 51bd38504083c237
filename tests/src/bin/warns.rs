//! A program that prints long polls while they last.

#[cfg(target_os = "linux")]
#[tokio_statemap::main(
    worker_threads = 2,
    warn_after = "20ms",
    tasks = tests::programs::out("tasks.json")
)]
async fn main() {
    tests::programs::warns::run(&tests::programs::way()).await;
}

#[cfg(not(target_os = "linux"))]
fn main() {}
