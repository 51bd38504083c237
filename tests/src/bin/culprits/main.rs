//! Tasks that are all spawned at one line, some of which hold their worker in the way that the last argument
//! says: each until it was seen.

#[cfg(target_os = "linux")]
mod hold;

use std::collections::BTreeSet;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

#[cfg(target_os = "linux")]
use hold::hold;
use tests::programs::{out, way};
use tokio::task::JoinSet;
use tokio_statemap::timeline::TaskKey;

/// How old a poll is when it is seen: it has some samples then.
const AGE: Duration = Duration::from_millis(20);
/// After which time the program ends in any case: one that is never seen has a report that names nobody.
const PATIENCE: Duration = Duration::from_secs(20);

/// The tasks that were seen to hold their worker.
static SEEN: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
/// Whose turn it is.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// The task that calls this.
#[cfg(target_os = "linux")]
fn task() -> u64 {
    tokio::task::id().to_string().parse().expect("it is a number")
}

/// Whether a task was seen.
#[cfg(target_os = "linux")]
fn is_seen(task: u64) -> bool {
    SEEN.lock().expect("nobody panics").contains(&task)
}

/// Notes which tasks are seen, and ends a program that never lets go. Not by a timer: if the worker is held that looks
/// for timers and I/O, none comes.
fn watch(is_endless: bool) {
    let (tell, told) = mpsc::channel();
    // Each is told of a poll once, and on a busy machine perhaps without a stack: the next one is told later.
    for times in [1, 2, 4, 8, 16, 32, 64] {
        let tell = tell.clone();
        let collector = tokio_statemap::current().expect("it is recorded");
        collector.on_long_poll(AGE * times, move |poll| {
            if let (TaskKey::Spawned(id), false) = (poll.task, poll.frames.is_empty()) {
                SEEN.lock().expect("nobody panics").insert(id);
                let _ = tell.send(());
            }
        });
    }
    std::thread::spawn(move || {
        while told.recv_timeout(PATIENCE).is_ok() && !is_endless {}
        std::process::exit(0);
    });
}

#[tokio_statemap::main(worker_threads = 2, report = out("report.txt"), tasks = out("tasks.json"))]
async fn main() {
    let way = way();
    watch(["endless", "name"].contains(&&*way));
    let mut tasks = JoinSet::new();
    for number in 0..24 {
        let way = way.clone();
        tasks.spawn(async move {
            tokio::time::sleep(Duration::from_millis(number)).await;
            if number % 8 == 0 {
                // One after the other: they would wait for each other, and not for what they are to wait for.
                let _turn = TURN.lock().await;
                hold(&way).await;
            }
        });
    }
    tasks.join_all().await;
}
