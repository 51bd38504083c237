//! Programs that print nothing, as the test sets their stdout and stderr.

use std::future::pending;
use std::io::{Write, stderr};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// Returns the path in the variable `name`, or else the file `default` of this run.
pub fn path(name: &str, default: &str) -> PathBuf {
    std::env::var_os(name).map_or_else(|| super::out(default), PathBuf::from)
}

/// Runs the body in the variant `way`.
pub async fn run(way: &str) {
    tokio::spawn(async {}).await.unwrap();
    match way {
        "returns" => {}
        "exits" => std::process::exit(3),
        "aborts" => std::process::abort(),
        "panics" => {
            std::panic::set_hook(Box::new(|_| {}));
            panic!("nobody is told");
        }
        "waits" => {
            report_ready();
            pending().await
        }
        // All threads are in the allocator, in hooks, or in calls that a signal interrupts.
        "busy" | "busy_kills" => {
            for _ in 0..2 {
                thread::spawn(allocate);
                tokio::spawn(async {
                    loop {
                        allocate_once(5_000);
                        tokio::task::yield_now().await;
                    }
                });
            }
            report_ready();
            if way == "busy_kills" {
                kill_this_thread_soon();
            }
            loop {
                allocate_once(70_000);
                tokio::spawn(async { allocate_once(3_000) }).await.unwrap();
                thread::sleep(Duration::from_micros(10));
            }
        }
        // A thread of the program prints.
        "prints" => {
            thread::spawn(|| {
                let mut stderr = stderr().lock();
                report_ready();
                for _ in 0..100_000 {
                    stderr.write_all(b"a line\n").unwrap();
                }
            });
            pending().await
        }
        // `main` holds the lock of stderr.
        "locks" => {
            let _stderr = stderr().lock();
            report_ready();
            thread::park();
        }
        _ => panic!("no such way: {way}"),
    }
}

/// Sends this thread a signal from another one.
fn kill_this_thread_soon() {
    // SAFETY: The call has no precondition.
    let thread = unsafe { libc::pthread_self() } as usize;
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        // SAFETY: The thread that gets the signal lives as long as the process.
        unsafe { libc::pthread_kill(thread as libc::pthread_t, libc::SIGTERM) };
    });
}

fn allocate() -> ! {
    loop {
        allocate_once(2_000);
    }
}

fn allocate_once(most_bytes: usize) {
    let sizes = [1, 2, 3, 5, 8, 13, 21, 34].map(|part| most_bytes / part);
    std::hint::black_box(sizes.map(Vec::<u8>::with_capacity));
}

/// Creates the file that the test waits for.
fn report_ready() {
    std::fs::write(super::out("ready"), "").unwrap();
}
