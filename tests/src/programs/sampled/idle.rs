//! A runtime with nothing to do.

use std::fs;
use std::future::pending;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::recorded;

/// Waits for `seconds` with all workers parked. The watcher must not run in this time.
///
/// # Panics
///
/// If it ran.
pub fn run(seconds: u64) {
    let (_collector, runtime) = recorded(2);
    for _ in 0..1000 {
        runtime.spawn(pending::<()>());
    }
    let watcher = watcher();
    // The watcher looks until all are parked, which may take a while on a busy machine. A second after a thread recorded
    // much, it takes back memory that the thread doesn't need.
    let mut at_rest = schedstat(&watcher);
    loop {
        sleep(Duration::from_millis(1200));
        let now = schedstat(&watcher);
        if now == at_rest {
            break;
        }
        at_rest = now;
    }
    println!("at rest");
    sleep(Duration::from_secs(seconds));
    assert_eq!(schedstat(&watcher), at_rest, "it ran: CPU time, run delay, time slices");
}

/// Waits for the watcher's thread and returns its folder. It starts after the last worker, and has its name once it runs.
fn watcher() -> String {
    let since = Instant::now();
    loop {
        if let Some(folder) = find_watcher() {
            return folder;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "there is a watcher");
        sleep(Duration::from_millis(1));
    }
}

fn find_watcher() -> Option<String> {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let mut folders = threads.map(|thread| thread.unwrap().path().display().to_string());
    let is_watcher = |folder: &String| {
        fs::read_to_string(format!("{folder}/comm")).unwrap() == "tokio-statemap\n"
    };
    folders.find(is_watcher)
}

fn schedstat(folder: &str) -> String {
    fs::read_to_string(format!("{folder}/schedstat")).unwrap()
}
