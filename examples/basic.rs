//! The smallest program with something to find: fifty tasks that sleep well, and one that blocks.
//!
//! ```text
//! cargo run --release --example basic
//! ```
//!
//! Only the attribute is different from a plain Tokio program. The report on stderr names the line
//! of `tokio::spawn(copy_backup())` below. `basic.statemap.html`, which any program leaves that is
//! told of no other file, opens on it: it is a page for a web browser.

use std::time::Duration;

use tokio::time::sleep;

#[tokio_statemap::main(worker_threads = 2)]
async fn main() {
    // These do it right: whenever they wait, they await, and their worker polls other tasks.
    for n in 0..50 {
        tokio::spawn(heartbeat(Duration::from_millis(5 + n % 7)));
    }
    // This one doesn't.
    let backup = tokio::spawn(copy_backup());
    backup.await.expect("copy_backup doesn't panic");
}

async fn heartbeat(period: Duration) {
    loop {
        sleep(period).await;
    }
}

async fn copy_backup() {
    for _ in 0..10 {
        sleep(Duration::from_millis(50)).await;
        // This stands for any call that blocks: a large file read with `std::fs`, a driver that isn't
        // async, a lock that is held for long. The worker can't do anything else meanwhile.
        // `tokio::task::spawn_blocking` is the remedy.
        std::thread::sleep(Duration::from_millis(20));
    }
}
