//! A task that overflows its stack in a long poll.

use std::hint::black_box;
use std::time::Duration;

use super::compute;
use crate::programs::out;

/// Recorded.
#[tokio_statemap::main(worker_threads = 2, tasks = out("tasks.json"))]
pub async fn observed() {
    overflow().await;
}

/// Not recorded.
#[tokio::main(worker_threads = 2)]
pub async fn plain() {
    overflow().await;
}

async fn overflow() {
    tokio::spawn(async { println!("{}", recurse(0)) }).await.unwrap();
}

/// Needs some thousand calls for a thread's stack, which take some 50 ms.
#[inline(never)]
fn recurse(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    compute(Duration::from_micros(15));
    let deeper = if black_box(depth) == u64::MAX { 0 } else { recurse(depth + 1) };
    deeper + black_box(frame)[7]
}
