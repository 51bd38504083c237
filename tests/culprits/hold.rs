//! Functions that block a worker in different ways, called from tasks that are all spawned at one line.

use std::collections::BTreeMap;
use std::fs::File;
use std::hint::black_box;
use std::io::{Read as _, Write as _};
use std::net::ToSocketAddrs as _;
use std::os::fd::FromRawFd as _;
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::watch;

/// The least time for which one call blocks its worker.
const LONG: Duration = Duration::from_millis(15);

static LOCK: Mutex<u64> = Mutex::new(0);
static VALUE: LazyLock<watch::Sender<u64>> = LazyLock::new(watch::Sender::default);

/// Blocks the current worker in one of the ways that `tests/report/culprits.rs` lists.
///
/// In each way the report must name the line with a comment, or if the way computes, a line of that function.
pub(crate) async fn hold(way: &str) {
    first(way).await;
}

async fn first(way: &str) {
    tokio::task::yield_now().await;
    if matches!(way, "mutex" | "watch") {
        hold_lock(way == "watch").await;
    }
    second(way).await;
}

/// Blocks again and again in one poll, until the poll was sampled.
async fn second(way: &str) {
    loop {
        once(way);
        if super::is_sampled(super::task()) {
            return;
        }
    }
}

#[inline(always)]
fn once(way: &str) {
    match way {
        "sleeps" => deep(20),
        "computes" => computes(),
        "inlined" => inlined(),
        "generic" => generic(&[LONG]),
        "dependency" => dependency(),
        "pipe" => pipe(),
        "mutex" => mutex(),
        "watch" => watch(),
        "thread" => thread(),
        "faults" => faults(),
        "endless" => endless(),
        "name" => name(),
        other => panic!("there is no way {other}"),
    }
}

/// Sleeps deep in calls.
#[inline(never)]
fn deep(depth: u32) {
    if depth > 0 {
        deep(depth - 1);
    } else {
        std::thread::sleep(LONG); // sleeps
    }
    black_box(depth);
}

#[inline(never)]
fn computes() {
    let (began, mut x) = (Instant::now(), 0_u64); // computes
    while began.elapsed() < LONG {
        for i in 0..1000 {
            x = black_box(x.wrapping_mul(31).wrapping_add(i));
        }
    }
}

#[inline(always)]
fn inlined() {
    let (began, mut x) = (Instant::now(), 0_u64); // inlined
    while began.elapsed() < LONG {
        for i in 0..1000 {
            x = black_box(x.wrapping_mul(37).wrapping_add(i));
        }
    }
}

#[inline(never)]
fn generic<T: Copy + Into<Duration>>(times: &[T]) {
    for &time in times {
        std::thread::sleep(time.into()); // generic
    }
    black_box(times);
}

#[inline(never)]
fn dependency() {
    let text = serde_json::to_string(&(0..100_000_u64).collect::<Vec<_>>()).unwrap_or_default(); // dependency
    let began = Instant::now();
    let mut all = BTreeMap::new();
    while began.elapsed() < LONG {
        all.insert(all.len(), serde_json::from_str::<Vec<u64>>(&text).ok());
    }
    black_box(&all);
}

#[inline(never)]
fn pipe() {
    let mut ends = [0; 2];
    // SAFETY: The call fills `ends` in with two descriptors, which nobody else owns.
    let (mut reader, mut writer) = unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0, "a pipe");
        (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1]))
    };
    let other = std::thread::spawn(move || {
        std::thread::sleep(LONG);
        writer.write_all(b"x").expect("it is read");
    });
    reader.read_exact(&mut [0]).expect("it is written"); // pipe
    other.join().expect("it ends");
}

/// Waits until another thread holds the lock, or the value of the channel, which it does until the current task was sampled.
async fn hold_lock(is_value: bool) {
    let (locks, locked) = tokio::sync::oneshot::channel();
    let task = super::task();
    std::thread::spawn(move || {
        let receiver = VALUE.subscribe();
        let value = is_value.then(|| receiver.borrow());
        let guard = (!is_value).then(|| LOCK.lock());
        locks.send(()).ok();
        let began = Instant::now();
        while !super::is_sampled(task) && began.elapsed() < super::PATIENCE {
            std::thread::sleep(LONG);
        }
        drop((value, guard));
    });
    locked.await.expect("the thread sends it");
}

#[inline(never)]
fn mutex() {
    *LOCK.lock().expect("nobody panics") += 1; // mutex
}

#[inline(never)]
fn watch() {
    VALUE.send_replace(1); // watch
}

/// Waits for a thread that runs a runtime of its own.
#[inline(never)]
fn thread() {
    let other = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async { tokio::time::sleep(LONG).await });
    });
    other.join().expect("it ends"); // thread
}

#[inline(never)]
fn faults() {
    let bytes = vec![1_u8; 64 << 20]; // faults
    black_box(&bytes);
}

#[inline(never)]
fn endless() {
    let mut x = 0_u64; // endless
    loop {
        x = black_box(x.wrapping_mul(41).wrapping_add(1));
    }
}

#[inline(never)]
fn name() {
    let found = "statemap.example:80".to_socket_addrs(); // name
    black_box(found.is_ok());
}
