//! A small program with something to find: fifty tasks that sleep asynchronously, and one that
//! blocks.
//!
//! ```text
//! cargo run --example basic
//! ```
//!
//! Only the attribute is different from a plain Tokio program. The report on stderr names the line
//! of `tokio::spawn(copy_backup())` below, and `basic.statemap.html`, the default output, opens on
//! it: it is a page for a web browser.

use std::time::Duration;

use tokio::time::sleep;

#[tokio_statemap::main(worker_threads = 2)]
async fn main() {
    // These await while they wait, so that their worker can poll other tasks.
    for n in 0..50 {
        tokio::spawn(heartbeat(Duration::from_millis(5 + n % 7)));
    }
    // This one blocks.
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
        // Stands for any call that blocks: reading a large file with `std::fs`, a driver that isn't
        // async, a lock that is held for long. The worker can't poll other tasks meanwhile.
        // `tokio::task::spawn_blocking` is the remedy.
        std::thread::sleep(Duration::from_millis(20));
    }
}
