//! Functions that hold a worker, each in its own way, called from tasks that are all spawned at one line.

use std::collections::BTreeMap;
use std::fs::File;
use std::hint::black_box;
use std::io::{Read as _, Write as _};
use std::net::ToSocketAddrs as _;
use std::os::fd::FromRawFd as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How long each holds its worker at a time, at least.
const LONG: Duration = Duration::from_millis(15);

static LOCK: Mutex<u64> = Mutex::new(0);

/// Holds the worker it is called on, in one of the ways that `tests/report/culprits.rs` lists. In each, the line with a
/// comment is to blame; or if it computes, one of its function.
pub(crate) async fn hold(way: &str) {
    first(way).await;
}

async fn first(way: &str) {
    tokio::task::yield_now().await;
    if way == "mutex" {
        hold_lock().await;
    }
    second(way).await;
}

/// Over and over in one poll, until it was seen.
async fn second(way: &str) {
    loop {
        once(way);
        if super::is_seen(super::task()) {
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
        "thread" => thread(),
        "faults" => faults(),
        "endless" => endless(),
        "name" => name(),
        other => panic!("there is no way {other}"),
    }
}

/// Deep in calls.
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
    // SAFETY: it fills `ends` in with two descriptors, which nobody else has.
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

/// Comes back once another thread holds the lock, until the calling task was seen.
async fn hold_lock() {
    let (tell, told) = tokio::sync::oneshot::channel();
    let task = super::task();
    std::thread::spawn(move || {
        let guard = LOCK.lock();
        tell.send(()).ok();
        let began = Instant::now();
        while !super::is_seen(task) && began.elapsed() < super::PATIENCE {
            std::thread::sleep(LONG);
        }
        drop(guard);
    });
    told.await.expect("it is sent");
}

#[inline(never)]
fn mutex() {
    *LOCK.lock().expect("nobody panics") += 1; // mutex
}

/// A runtime of its own, in a thread that it waits for.
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
