//! Tasks that wait for one another, spawned as by any program: the report begins with the line at which they wait, and names who
//! has what they wait for.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tests::runtime::builder;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, Semaphore, mpsc, oneshot};
use tokio::time::sleep;
use tokio_statemap::report::Report;
use tokio_statemap::{CollectorConfig, register_hooks};

/// So long may it take until the report says it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a program that hangs some day. Returns the report, once that begins with a queue in which nothing goes on.
fn report_of<F: Future<Output = ()>>(program: impl Fn() -> F) -> Report {
    let mut builder = builder(2);
    let collector = register_hooks(builder.enable_all(), CollectorConfig::default()).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    let report = collector.block_on(&runtime, async {
        tokio::spawn(healthy());
        program().await;
        let began = Instant::now();
        loop {
            sleep(Duration::from_millis(200)).await;
            let report = collector.snapshot().report();
            let text = report.to_string();
            if text.contains("no wait there ended") || began.elapsed() > PATIENCE {
                return report;
            }
        }
    });
    runtime.shutdown_background();
    report
}

/// Something goes on all the time, and a server waits for a client that may come.
async fn healthy() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    tokio::spawn(async move { listener.accept().await.map(drop) });
    loop {
        sleep(Duration::from_millis(5)).await;
    }
}

/// Asserts that the verdict has all of these.
fn assert_says(report: &Report, expected: &[&str]) {
    let verdict = report.verdict.to_string();
    assert_eq!(report.issues()[0].explanation().name, "queue", "{report}");
    for part in expected {
        assert!(verdict.contains(part), "{part} isn't in: {verdict}");
    }
}

fn at(line: u32) -> String {
    format!("tests/tests/report/queues.rs:{line}")
}

enum Ask {
    Balance(oneshot::Sender<u64>),
    Close(oneshot::Sender<u64>),
}

const ANSWER: u32 = line!() + 5;

async fn balance(account: &mpsc::Sender<Ask>) -> u64 {
    let (send, receive) = oneshot::channel();
    account.send(Ask::Balance(send)).await.ok().unwrap();
    receive.await.unwrap()
}

const ASKS_ITSELF: u32 = line!() + 6;

async fn account(mut inbox: mpsc::Receiver<Ask>, itself: mpsc::Sender<Ask>) {
    while let Some(ask) = inbox.recv().await {
        let (to, left) = match ask {
            Ask::Balance(to) => (to, 100),
            Ask::Close(to) => (to, balance(&itself).await),
        };
        let _ = to.send(left);
    }
}

#[test]
fn an_actor_that_asks_itself() {
    let report = report_of(|| async {
        let (send, inbox) = mpsc::channel(64);
        tokio::spawn(account(inbox, send.clone()));
        for _ in 0..8 {
            let send = send.clone();
            tokio::spawn(async move {
                loop {
                    balance(&send).await;
                    sleep(Duration::from_millis(5)).await;
                }
            });
        }
        sleep(Duration::from_millis(200)).await;
        let (to, _) = oneshot::channel();
        send.send(Ask::Close(to)).await.ok().unwrap();
    });
    let (waits, asks) = (at(ANSWER), at(ASKS_ITSELF));
    let waits = format!("tasks wait at {waits}, Receiver, for up to ");
    let asks = format!(", at {asks} > {}. task-", at(ANSWER));
    assert_says(
        &report,
        &[&waits, " ended most waits there, and waits itself, for ", &asks, " waits for itself."],
    );
}

const SENDS: u32 = line!() + 7;

/// Passes messages on, if there are hops left. Each takes that long.
async fn passes_on(mut inbox: mpsc::Receiver<u64>, next: mpsc::Sender<u64>, work: Duration) {
    while let Some(hops) = inbox.recv().await {
        sleep(work).await;
        for _ in 0..hops {
            next.send(hops - 1).await.unwrap();
        }
    }
}

/// The second may send to the first, which waits for room at the second, at last.
#[test]
fn two_full_channels() {
    let report = report_of(|| async {
        let ((to_one, one), (to_other, other)) = (mpsc::channel(2), mpsc::channel(2));
        tokio::spawn(passes_on(one, to_other, Duration::ZERO));
        tokio::spawn(passes_on(other, to_one.clone(), Duration::from_millis(2)));
        let hops = Arc::new(AtomicU64::new(1));
        for _ in 0..8 {
            let (to_one, hops) = (to_one.clone(), Arc::clone(&hops));
            tokio::spawn(async move {
                loop {
                    to_one.send(hops.load(Relaxed)).await.unwrap();
                }
            });
        }
        sleep(Duration::from_millis(300)).await;
        hops.store(3, Relaxed);
    });
    let sends = format!("{}, Sender::send", at(SENDS));
    let stuck = "no wait there ended in the last ";
    assert_says(
        &report,
        &[" tasks wait at ", &sends, stuck, " ended most waits there, and waits itself, for "],
    );
}

const TAKES_ANOTHER: u32 = line!() + 3;

async fn audit(pool: &Semaphore) {
    let _another = pool.acquire().await.unwrap();
    sleep(Duration::from_millis(1)).await;
}

const TAKES_ONE: u32 = line!() + 3;

async fn order(pool: Arc<Semaphore>) {
    let _one = pool.acquire().await.unwrap();
    sleep(Duration::from_millis(5)).await;
    audit(&pool).await;
    DONE.fetch_add(1, Relaxed);
}

/// The orders that found a permit for both.
static DONE: AtomicU32 = AtomicU32::new(0);

#[test]
fn a_pool_whose_holders_take_another_one() {
    let report = report_of(|| async {
        let pool = Arc::new(Semaphore::new(4));
        for _ in 0..10 {
            tokio::spawn(order(Arc::clone(&pool))).await.unwrap();
        }
        for _ in 0..32 {
            tokio::spawn(order(Arc::clone(&pool)));
        }
    });
    // On a busy machine some are done before others begin.
    let waiting = 10 + 32 - 4 - DONE.load(Relaxed);
    let waits = format!("{waiting} tasks wait at {}, ", at(TAKES_ONE));
    let holds = format!(
        " and 3 others may hold what is awaited at {}: they are further on in the same function, and wait for a permit themselves, at {} > {}.",
        at(TAKES_ONE),
        at(TAKES_ONE + 2),
        at(TAKES_ANOTHER)
    );
    assert_says(&report, &[&waits, &holds]);
}

/// A lock is held for long now and then, and a permit is always taken by somebody: all goes on.
#[test]
fn who_waits_for_long_and_goes_on_is_not_stuck() {
    let mut builder = builder(2);
    let collector = register_hooks(builder.enable_all(), CollectorConfig::default()).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    collector.block_on(&runtime, async {
        let lock = Arc::new(Mutex::new(()));
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let lock = Arc::clone(&lock);
                tokio::spawn(async move {
                    for _ in 0..3 {
                        let _held = lock.lock().await;
                        sleep(Duration::from_millis(100)).await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    let report = collector.snapshot().report();
    let verdict = report.verdict.to_string();
    assert!(verdict.starts_with("Tasks queued at "), "{report}");
    assert!(!verdict.contains("no wait there ended"), "{report}");
    assert!(verdict.contains("its holders waited in async "), "{report}");
}
