//! Tasks that wait, in a program that prints where they wait on a signal.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, Notify};
use tokio::time::sleep;

use super::out;

/// Runs the body in the variant `way`.
pub async fn run(way: &str) {
    match way {
        "waits" => waits().await,
        "is_stuck" => is_stuck().await,
        "works" => works().await,
        "handles" => handles().await,
        "forks" => forks(),
        _ => panic!("{way:?} is no way to run"),
    }
    println!("the last line");
}

async fn waits() {
    let mutex = Arc::new(Mutex::new(()));
    let _held = mutex.lock().await;
    for _ in 0..3 {
        tokio_statemap::spawn(locks(Arc::clone(&mutex)));
    }
    let named = tokio_statemap::task::Builder::new().name("both of them");
    named.spawn(joins()).unwrap();
    tokio::spawn(sleep_long()); // a library's
    tokio_statemap::spawn(std::future::pending::<()>());
    println!("ready");
    until_told().await;
}

async fn locks(mutex: Arc<Mutex<()>>) {
    let _guard = mutex.lock().await; // locks
}

async fn joins() {
    tokio::join!(sleep_long(), is_notified()); // joins
}

async fn sleep_long() {
    sleep(Duration::from_secs(1000)).await; // sleeps
}

async fn is_notified() {
    Notify::new().notified().await; // is notified
}

async fn until_told() {
    while !out("go_on").exists() {
        sleep(Duration::from_millis(100)).await; // is told
    }
}

async fn is_stuck() {
    tokio_statemap::spawn(async { hold_worker() });
    println!("ready");
    until_told().await;
}

#[inline(never)]
fn hold_worker() {
    while !out("go_on").exists() {
        std::thread::sleep(Duration::from_millis(300)); // stuck
    }
    std::hint::black_box(());
}

/// Runs many tasks of a known number of rounds, and ends when the test says so.
async fn works() {
    const TASKS: u64 = 200;
    const ROUNDS: u64 = 50;
    static DONE: AtomicU64 = AtomicU64::new(0);
    // The number of polls depends on the machine: a timer may fire before it is awaited.
    static POLLS: AtomicU64 = AtomicU64::new(0);
    println!("ready");
    let mut tasks = tokio_statemap::task::JoinSet::new();
    for _ in 0..TASKS {
        let mut work = Box::pin(async {
            for _ in 0..ROUNDS {
                sleep(Duration::from_millis(5)).await;
                DONE.fetch_add(1, Ordering::Relaxed);
            }
        });
        tasks.spawn(std::future::poll_fn(move |cx| {
            POLLS.fetch_add(1, Ordering::Relaxed);
            work.as_mut().poll(cx)
        }));
    }
    tasks.join_all().await;
    until_told().await;
    println!("{} of {}", DONE.load(Ordering::Relaxed), TASKS * ROUNDS);
    println!("{}", POLLS.load(Ordering::Relaxed));
}

/// Handles the signal itself.
async fn handles() {
    let mut signals =
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::user_defined1()).unwrap();
    println!("ready");
    signals.recv().await;
    println!("handled");
}

/// Forks a child and sends it the signal.
fn forks() {
    // SAFETY: The child only waits for the signal.
    let child = unsafe { libc::fork() };
    if child == 0 {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    let mut status = 0;
    // SAFETY: `child` is a child of this process, and `status` lives through the call.
    unsafe {
        libc::kill(child, libc::SIGUSR1);
        libc::waitpid(child, &raw mut status, 0);
    }
    println!("the child died of {}", libc::WTERMSIG(status));
}
