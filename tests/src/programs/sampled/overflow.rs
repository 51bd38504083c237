//! A task that overflows its stack in a long poll.

use std::hint::black_box;
use std::time::Duration;

use super::compute;
use crate::programs::out;

/// Runs the program recorded.
#[tokio_statemap::main(worker_threads = 2, tasks = out("tasks.json"))]
pub async fn observed() {
    overflow().await;
}

/// Runs the program without recording.
#[tokio::main(worker_threads = 2)]
pub async fn plain() {
    overflow().await;
}

async fn overflow() {
    tokio::spawn(async { println!("{}", recurse(0)) }).await.unwrap();
}

/// Overflows a thread's stack in a few thousand calls, which take about 50 ms.
#[inline(never)]
fn recurse(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    compute(Duration::from_micros(15));
    let deeper = if black_box(depth) == u64::MAX { 0 } else { recurse(depth + 1) };
    deeper + black_box(frame)[7]
}
