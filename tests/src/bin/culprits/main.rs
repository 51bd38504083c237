//! Tasks that are all spawned at one line, some of which hold their worker in the way that the last argument
//! says.

#[cfg(target_os = "linux")]
mod hold;

use std::time::Duration;

#[cfg(target_os = "linux")]
use hold::hold;
use tests::programs::{out, way};

#[tokio_statemap::main(worker_threads = 2, report = out("report.txt"), tasks = out("tasks.json"))]
async fn main() {
    let way = way();
    // Not by a timer: if the worker is held that looks for timers and I/O, none comes. And some never end.
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(400));
        std::process::exit(0);
    });
    for number in 0..24 {
        let way = way.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(5 * number)).await;
            if number % 8 == 0 {
                hold(&way).await;
            }
        });
    }
    std::future::pending().await
}
