//! Forks while long polls are sampled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use super::compute;
use crate::child::names_in;
use crate::programs::out;

/// The exit status of a child that has one thread, and gets no other.
const ALONE: i32 = 4;

const LONG: Duration = Duration::from_millis(30);

/// Forks `n` times in a task, while others compute and sleep in long polls.
#[tokio_statemap::main(worker_threads = 3, tasks = out("tasks.json"))]
pub async fn run(n: u32) {
    let stop = Arc::new(AtomicBool::new(false));
    let others = [compute as fn(Duration), sleep].map(|long| {
        let stop = Arc::clone(&stop);
        tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                long(LONG);
                tokio::task::yield_now().await;
            }
        })
    });
    let forks = tokio::spawn(async move {
        for i in 0..n {
            // The forks hit all moments of a sample.
            compute(Duration::from_micros(u64::from(i % 97) * 100));
            fork_and_wait(i);
            if i % 8 == 7 {
                tokio::task::yield_now().await;
            }
        }
    });
    forks.await.unwrap();
    stop.store(true, Ordering::Relaxed);
    for other in others {
        other.await.unwrap();
    }
    assert_eq!(names_in(&out("")), [""; 0], "a child wrote files");
}

fn fork_and_wait(i: u32) {
    // SAFETY: The child calls only functions that are async-signal-safe, or allocates, which the C library allows after
    // a fork.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork");
    if child == 0 {
        run_child(i);
    }
    let mut status = 0;
    // SAFETY: `status` lives through the call.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child, "waitpid");
    assert!(libc::WIFEXITED(status), "{status:#x}");
    assert_eq!(libc::WEXITSTATUS(status), if is_exec(i) { 0 } else { ALONE });
}

fn is_exec(i: u32) -> bool {
    i % 4 == 3
}

fn run_child(i: u32) -> ! {
    // SAFETY: All pointers are valid as long as the process; the calls are async-signal-safe.
    unsafe {
        if is_exec(i) {
            let arguments = [c"true".as_ptr(), std::ptr::null()];
            libc::execv(c"/bin/true".as_ptr(), arguments.as_ptr());
            libc::_exit(1);
        }
        // Some stay for longer than the watcher sleeps.
        if i % 16 == 0 {
            libc::usleep(12_000);
        }
        let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
        libc::_exit(if threads == 1 { ALONE } else { 1 });
    }
}
