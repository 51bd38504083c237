//! Random programs, which log all wakes: what is recorded equals that.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tests::runtime::{builder, recorded};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, Notify, Semaphore, mpsc};
use tokio::task::{JoinHandle, LocalSet, spawn_local, yield_now};
use tokio_statemap::timeline::{TaskKey, Timeline};
use tokio_statemap::{CollectorConfig, WokenBy};

use super::log::{Log, Logged, acting_as};

/// A pseudo-random sequence (xorshift64*).
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % n
    }
}

/// What the tasks of a program share.
#[derive(Clone)]
struct Shared {
    log: Arc<Log>,
    lock: Arc<Mutex<u64>>,
    permits: Arc<Semaphore>,
    notify: Arc<Notify>,
    send: mpsc::Sender<u64>,
    /// Another runtime, which is recorded, too.
    other: Handle,
}

impl Shared {
    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        tokio::spawn(Logged::task(future, &self.log))
    }

    fn spawn_on_other(&self, future: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        self.other.spawn(Logged::task(future, &self.log))
    }
}

/// What a task does, one thing after another.
fn acts(
    shared: Shared,
    mut random: Random,
    depth: u64,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        for _ in 0..6 {
            match random.below(13) {
                0 => yield_now().await,
                1 => tokio::time::sleep(Duration::from_micros(random.below(3000))).await,
                2 => {
                    let mut held = shared.lock.lock().await;
                    *held += 1;
                    yield_now().await;
                }
                3 => {
                    let _permit = shared.permits.acquire().await.unwrap();
                    yield_now().await;
                }
                4 => shared.send.send(1).await.unwrap(),
                5 => {
                    let notify = Arc::clone(&shared.notify);
                    tokio::task::spawn_blocking(move || {
                        acting_as(WokenBy::BlockingTask, || notify.notify_waiters());
                    });
                    yield_now().await;
                }
                6 => {
                    let notify = Arc::clone(&shared.notify);
                    let thread = std::thread::spawn(move || {
                        acting_as(WokenBy::Thread, || notify.notify_waiters());
                    });
                    thread.join().unwrap();
                }
                7 => {
                    let notified = shared.notify.notified();
                    tokio::select! {
                        () = notified => {}
                        () = tokio::time::sleep(Duration::from_millis(2)) => {}
                    }
                }
                8 if depth < 2 => {
                    let next = Random(random.0 | 1);
                    shared.spawn(acts(shared.clone(), next, depth + 1)).await.unwrap();
                }
                9 => {
                    let (mut near, mut far) = UnixStream::pair().unwrap();
                    let echoes = shared.spawn(async move {
                        let byte = far.read_u8().await.unwrap();
                        far.write_u8(byte).await.unwrap();
                    });
                    near.write_u8(7).await.unwrap();
                    assert_eq!(near.read_u8().await.unwrap(), 7);
                    echoes.await.unwrap();
                }
                10 => {
                    let task = shared.spawn(std::future::pending());
                    if random.below(2) == 0 {
                        yield_now().await;
                    }
                    shared.log.abort(&task);
                    assert!(task.await.unwrap_err().is_cancelled());
                }
                11 => {
                    let (lock, notify) = (Arc::clone(&shared.lock), Arc::clone(&shared.notify));
                    let there = shared.spawn_on_other(async move {
                        *lock.lock().await += 1;
                        notify.notify_one();
                        yield_now().await;
                    });
                    there.await.unwrap();
                }
                _ => shared.notify.notify_one(),
            }
        }
    })
}

/// Does random things in tasks, in a `LocalSet`, and in the `other` runtime.
pub(crate) async fn program(seed: u64, log: Arc<Log>, other: Handle) {
    let (send, mut receive) = mpsc::channel(1);
    let shared = Shared {
        log,
        lock: Arc::default(),
        permits: Arc::new(Semaphore::new(1)),
        notify: Arc::default(),
        send,
        other,
    };
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (seed + 1));
    let tasks: Vec<_> = (0..6)
        .map(|_| {
            let next = Random(random.below(u64::MAX) | 1);
            shared.spawn(acts(shared.clone(), next, 0))
        })
        .collect();
    let receives = shared.spawn(async move { while receive.recv().await.is_some() {} });
    // No hook tells of tasks of a `LocalSet`: it is `main`, which polls them, that wakes.
    let next = Random(random.0 | 1);
    let in_set = acts(shared.clone(), next, 2);
    LocalSet::new()
        .run_until(async move {
            let local = spawn_local(in_set);
            for task in tasks.into_iter().chain([local]) {
                task.await.unwrap();
            }
        })
        .await;
    drop(shared);
    receives.await.unwrap();
}

/// How many polls there were, of how many it isn't known who woke the task, and what is known otherwise than it was.
#[derive(Debug, Default)]
struct Compared {
    polls: usize,
    unknown: Vec<(u64, TaskKey, usize, Vec<WokenBy>)>,
    other: Vec<(u64, TaskKey, usize, WokenBy, Vec<WokenBy>)>,
}

impl Compared {
    fn add(&mut self, seed: u64, timeline: &Timeline, log: &Log) {
        for task in &timeline.tasks {
            let wakers = log.wakers(task.key, task.polls.len());
            assert_eq!(task.polls.len(), wakers.len() + 1, "seed {seed}: {task:?}");
            for (nth, (poll, [wakers, early])) in task.polls[1..].iter().zip(wakers).enumerate() {
                self.polls += 1;
                match poll.woken_by() {
                    // An abort isn't seen: it calls no waker.
                    None if log.is_aborted(task.key) && nth + 2 == task.polls.len() => {}
                    None => self.unknown.push((seed, task.key, nth + 1, wakers)),
                    Some(by) if wakers.contains(&by) => {}
                    // The log doesn't know whether the poll before had begun.
                    Some(by) if early.contains(&by) => {
                        self.unknown.push((seed, task.key, nth + 1, wakers));
                    }
                    Some(by) => self.other.push((seed, task.key, nth + 1, by, wakers)),
                }
            }
        }
    }
}

fn compare(seeds: std::ops::Range<u64>) {
    let mut compared = Compared::default();
    for seed in seeds {
        let workers = [0, 1, 3][(seed % 3) as usize];
        let (collector, runtime) = recorded(builder(workers), CollectorConfig::default());
        let (of_other, other) = recorded(builder(1), CollectorConfig::default());
        let log = Arc::new(Log::default());
        let program = program(seed, Arc::clone(&log), other.handle().clone());
        collector.block_on(&runtime, Logged::root(program, &log));
        drop((runtime, other));
        for collector in [collector, of_other] {
            collector.stop();
            compared.add(seed, &collector.snapshot(), &log);
        }
    }
    let Compared { polls, unknown, other } = compared;
    println!(
        "{polls} polls, of {} of them it isn't known, {} otherwise",
        unknown.len(),
        other.len()
    );
    assert!(other.is_empty(), "{other:?}");
    // A wake that comes as a poll begins, and tasks whose ids are so many apart, leave it unknown.
    assert!(unknown.len() * 200 <= polls, "{unknown:?} of {polls}");
}

#[test]
fn who_woke_is_who_did_in_some_programs() {
    compare(0..30);
}

#[test]
#[ignore = "slow: 500 programs"]
fn who_woke_is_who_did() {
    compare(30..530);
}
