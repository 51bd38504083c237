//! A program to compare with itself: tasks spawned at several lines compute for about 200 µs at a
//! time.
//!
//! ```text
//! cargo run --example compare -- before.json
//! SLOW=3 cargo run --example compare -- after.json
//! tokio-statemap diff before.json after.json
//! ```
//!
//! With `SLOW` the tasks of that line, counted from 1, compute twice as long, and `diff` names it first.
//! Without, it says that nothing differs by more than chance, although no two runs take equally long.

use std::hint::black_box;
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::{Instant, sleep};

/// The length of the run.
const LENGTH: Duration = Duration::from_secs(5);

#[tokio_statemap::main(worker_threads = 2, tasks = path(), report = std::env::temp_dir().join("compare.txt"))]
async fn main() {
    let until = Instant::now() + LENGTH;
    let mut tasks = Vec::new();
    for n in 0..4 {
        let pause = Duration::from_millis(5 + n);
        tasks.push(tokio::spawn(orders(until, pause, times(1))));
        tasks.push(tokio::spawn(invoices(until, pause, times(2))));
        tasks.push(tokio::spawn(prices(until, pause, times(3))));
        tasks.push(tokio::spawn(stock(until, pause, times(4))));
        tasks.push(tokio::spawn(mails(until, pause, times(5))));
    }
    for task in tasks {
        task.await.expect("none of them panics");
    }
}

/// Returns the path for the tasks' data.
fn path() -> String {
    std::env::args().nth(1).unwrap_or_else(|| "compare.tasks.json".to_owned())
}

/// Returns the factor by which the tasks of a line compute longer than usual.
fn times(line: u32) -> u64 {
    let slow = std::env::var("SLOW").ok().and_then(|line| line.parse().ok());
    if slow == Some(line) { 2 } else { 1 }
}

async fn orders(until: Instant, pause: Duration, times: u64) {
    while Instant::now() < until {
        compute(60 * times);
        sleep(pause).await;
    }
}

async fn invoices(until: Instant, pause: Duration, times: u64) {
    for n in 0.. {
        if Instant::now() > until {
            return;
        }
        // Some polls are longer than others.
        compute((50 + n % 30) * times);
        sleep(pause).await;
    }
}

async fn prices(until: Instant, pause: Duration, times: u64) {
    while Instant::now() < until {
        for _ in 0..3 {
            compute(60 * times);
            yield_now().await;
        }
        sleep(3 * pause).await;
    }
}

async fn stock(until: Instant, pause: Duration, times: u64) {
    for n in 0_u64.. {
        if Instant::now() > until {
            return;
        }
        // There is a burst now and then.
        let rounds = if n % 20 == 0 { 15 } else { 1 };
        for _ in 0..rounds {
            compute(60 * times);
            yield_now().await;
        }
        sleep(2 * pause).await;
    }
}

async fn mails(until: Instant, pause: Duration, times: u64) {
    for n in 0_u64.. {
        if Instant::now() > until {
            return;
        }
        // The distribution has a heavy tail: one in a hundred takes ten times as long.
        compute(if n % 100 == 99 { 600 } else { 60 } * times);
        sleep(pause).await;
    }
}

/// Computes for some microseconds: about 3 for each of `parts`.
fn compute(parts: u64) {
    let mut sum = 1_u64;
    for n in 0..parts * 2_000 {
        sum = black_box(sum.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7) ^ n);
    }
    black_box(sum);
}
