//! What goes wrong in a program that writes pages while it runs.

use std::sync::{Arc, Barrier};
use std::thread::sleep;
use std::time::Duration;

use super::out;

const MS: Duration = Duration::from_millis(1);

/// Does something once, or as often as the test asks for it, and ends when the file `go_on` exists.
///
/// # Panics
///
/// If there is no such way.
pub async fn run(way: &str) {
    match way {
        "blocks" => tokio::spawn(async { hold_up() }).await.unwrap(),
        "panics" => {
            let result = tokio::spawn(async { panic!("a task panics") }).await; // the panic
            println!("the task panicked: {}", result.unwrap_err().is_panic());
        }
        // A panic at the end leaves no time for a page.
        "ends" => {
            let result = tokio::spawn(async { panic!("a task panics") }).await;
            assert!(result.is_err());
            return;
        }
        "stalls" => {
            let barrier = Arc::new(Barrier::new(2));
            let tasks = [0, 1].map(|_| {
                let barrier = Arc::clone(&barrier);
                tokio::spawn(async move { stall(&barrier) })
            });
            for task in tasks {
                task.await.unwrap();
            }
        }
        "asks" => {
            let collector = tokio_statemap::current().unwrap();
            let dump =
                move || ["now.html", "missing/now.html"].map(|name| collector.dump(out(name)));
            let [written, refused] = tokio::task::spawn_blocking(dump).await.unwrap();
            written.unwrap();
            println!("{}", refused.unwrap_err());
        }
        "forgets" => drop(tokio::spawn(waits_forever())),
        "uploads" => {
            let collector = tokio_statemap::current().unwrap();
            collector.on_dump(|page| println!("{} is {}", page.display(), page.exists()));
            collector.on_dump(|_| panic!("the network is down"));
            collector.on_dump(|_| println!("the last one"));
        }
        "waits" => {}
        way => panic!("no such way: {way}"),
    }
    println!("ready");
    while !out("go_on").exists() {
        tokio::time::sleep(5 * MS).await;
    }
    println!("the last line");
}

/// Blocks for a time that is usually enough for the page. On a busy machine it may not be.
#[inline(never)]
fn hold_up() {
    sleep(150 * MS);
    while !out("shop.dump-1.statemap.html").exists() && !out("go_on").exists() {
        sleep(MS);
    }
    std::hint::black_box(());
}

#[inline(never)]
async fn waits_forever() {
    tokio::sync::Notify::new().notified().await; // the wait
}

/// Holds a worker until the test has seen a page. Meanwhile another task is ready.
#[inline(never)]
fn stall(barrier: &Barrier) {
    barrier.wait();
    tokio::spawn(async {});
    // Long sleeps: a thread that isn't asleep may have lost its processor, and then isn't sampled.
    while !out("go_on").exists() {
        sleep(50 * MS);
    }
}
