//! For how long tasks were ready is what Tokio measures, without its clock.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use tests::runtime::builder;
use tokio::sync::{Notify, Semaphore, mpsc, oneshot};
use tokio::task::{JoinSet, yield_now};
use tokio_statemap::timeline::TaskKey;
use tokio_statemap::{CollectorConfig, Hooks, register_hooks_with};

use crate::woken_by::log::{Log, Logged};
use crate::woken_by::random;

/// By how much the two differ in most polls: the hook of Tokio's that tells one comes after the hook that tells the
/// other.
const SAME: Duration = Duration::from_micros(2);
/// By how much they may differ where the machine took the processor between the two for a moment.
const NEARLY_SAME: Duration = Duration::from_micros(20);

/// For how long each task was ready before each of its polls, by the task's id, as Tokio says.
type OfTasks = Mutex<HashMap<u64, Vec<Option<Duration>>>>;

/// Wakes tasks in all ways that Tokio has.
async fn program() {
    let (send, mut receive) = mpsc::channel(2);
    let notify = Arc::new(Notify::new());
    let permits = Arc::new(Semaphore::new(2));
    let mut tasks = JoinSet::new();
    for n in 0..8_u64 {
        let (send, notify, permits) = (send.clone(), Arc::clone(&notify), Arc::clone(&permits));
        tasks.spawn(async move {
            for m in 0..20 {
                let permit = permits.acquire().await.unwrap();
                send.send(n * m).await.unwrap();
                drop(permit);
                match m % 5 {
                    0 => yield_now().await,
                    1 => tokio::time::sleep(Duration::from_millis(1)).await,
                    2 => assert_eq!(tokio::spawn(async move { n }).await.unwrap(), n),
                    3 => wakes_itself().await,
                    _ => tokio::task::spawn_blocking(|| ()).await.unwrap(),
                }
            }
            notify.notified().await;
        });
    }
    drop(send);
    tasks.spawn(async move { while receive.recv().await.is_some() {} });
    for _ in 0..20 {
        let (send, receive) = oneshot::channel();
        let waits = tokio::spawn(async { receive.await.unwrap() });
        // A thread of no runtime.
        let thread = std::thread::spawn(move || send.send(()).unwrap());
        waits.await.unwrap();
        thread.join().unwrap();
    }
    while !tasks.is_empty() {
        notify.notify_waiters();
        tasks.try_join_next();
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Is woken twice in its own poll, without a clone of its waker.
async fn wakes_itself() {
    let mut is_first = true;
    poll_fn(|cx| {
        if !std::mem::take(&mut is_first) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// For how long a task was ready before a poll, and what Tokio said of it.
type Ready = (Option<Duration>, Option<Duration>);

/// Records the program, and returns the times of all polls of its tasks.
fn recorded(workers: usize, asks_tokio: bool, program: impl Future<Output = ()>) -> Vec<Ready> {
    let said = Arc::new(OfTasks::default());
    let hooks = Hooks::new().on_before_task_poll({
        let said = Arc::clone(&said);
        move |meta| {
            let id = meta.id().to_string().parse().unwrap();
            said.lock().unwrap().entry(id).or_default().push(meta.schedule_latency());
        }
    });
    let mut builder = builder(workers);
    if asks_tokio {
        builder.track_task_schedule_latency();
    }
    let config = CollectorConfig::default();
    let collector = register_hooks_with(builder.enable_all(), config, hooks).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    runtime.block_on(program);
    drop(runtime);
    collector.stop();
    let timeline = collector.snapshot();
    assert!(timeline.settings.schedule_latency);
    let said = said.lock().unwrap();
    let mut all = Vec::new();
    for task in &timeline.tasks {
        let TaskKey::Spawned(id) = task.key else { continue };
        let Some(said) = said.get(&id) else { continue };
        assert_eq!(task.polls.len(), said.len(), "{task:?}");
        let of_polls = task.polls.iter().map(|poll| poll.ready_for_ns().map(Duration::from_nanos));
        all.extend(of_polls.zip(said.iter().copied()));
    }
    all
}

/// Returns how many of the times differ from what Tokio said by `most` or less.
fn within(most: Duration, all: &[Ready]) -> usize {
    let is_within = |&&(ready_for, said): &&Ready| {
        ready_for.is_some_and(|ready_for| ready_for.abs_diff(said.unwrap()) <= most)
    };
    all.iter().filter(is_within).count()
}

#[track_caller]
fn assert_same(all: &[Ready]) {
    // A wake may also come as a poll begins.
    let (same, nearly) = (within(SAME, all), within(NEARLY_SAME, all));
    let is_so = same > all.len() / 2 && nearly > all.len() * 9 / 10;
    assert!(is_so, "{same}, {nearly} of {}", all.len());
}

#[test]
fn tasks_are_ready_for_as_long_as_tokio_says() {
    for workers in [0, 1, 3] {
        let all = recorded(workers, true, program());
        assert!(all.len() > 300, "{}", all.len());
        assert_same(&all);
    }
}

/// Does the same with random programs.
fn compare(seeds: std::ops::Range<u64>) {
    let other = builder(1).enable_all().build().unwrap();
    let mut all = Vec::new();
    for seed in seeds {
        let log = Arc::new(Log::default());
        let program = random::program(seed, Arc::clone(&log), other.handle().clone());
        let workers = [0, 1, 3][(seed % 3) as usize];
        all.extend(recorded(workers, true, Logged::root(program, &log)));
    }
    let known = all.iter().filter(|(ready_for, _)| ready_for.is_some()).count();
    println!("{} polls, {known} known, {} within {SAME:?}", all.len(), within(SAME, &all));
    // The time of an abort isn't known.
    assert!(known > all.len() * 9 / 10, "{known} of {}", all.len());
    assert_same(&all);
}

#[test]
fn so_they_are_in_some_random_programs() {
    compare(0..20);
}

#[test]
#[ignore = "slow: 500 programs"]
fn so_they_are_in_random_programs() {
    compare(20..520);
}

#[test]
fn tokio_is_not_asked() {
    for workers in [0, 3] {
        let all = recorded(workers, false, program());
        assert!(all.iter().all(|(_, said)| said.is_none()));
        let known = all.iter().filter(|(ready_for, _)| ready_for.is_some()).count();
        assert!(known > all.len() * 99 / 100, "{known} of {}", all.len());
    }
}

/// Tokio calls the hook before a poll while a wake still counts for that poll.
#[test]
fn a_wake_as_a_poll_begins_makes_nothing_ready() {
    let waker = Arc::new(Mutex::new(None::<Waker>));
    let hooks = Hooks::new().on_before_task_poll({
        let waker = Arc::clone(&waker);
        // After the hook that records.
        move |_| waker.lock().unwrap().iter().for_each(Waker::wake_by_ref)
    });
    let mut builder = builder(0);
    let collector =
        register_hooks_with(builder.enable_all(), CollectorConfig::default(), hooks).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    let (send, receive) = oneshot::channel();
    let task = runtime.spawn(async move {
        *waker.lock().unwrap() = Some(poll_fn(|cx| Poll::Ready(cx.waker().clone())).await);
        yield_now().await;
        let is_woken = receive.await.is_ok();
        *waker.lock().unwrap() = None;
        assert!(is_woken);
    });
    let woken = runtime.block_on(async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let woken = Instant::now();
        send.send(()).unwrap();
        task.await.unwrap();
        woken.elapsed()
    });
    drop(runtime);
    collector.stop();
    let timeline = collector.snapshot();
    let task = timeline.tasks.iter().find(|task| matches!(task.key, TaskKey::Spawned(_)));
    let last = *task.unwrap().polls.last().unwrap();
    let ready_for = Duration::from_nanos(last.ready_for_ns().unwrap());
    assert!(ready_for <= woken, "{ready_for:?} of {woken:?}");
}
