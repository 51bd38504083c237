//! Tasks that are all spawned at one line, some of which block their worker in the way that the last argument says, until
//! they were sampled.

#[cfg(target_os = "linux")]
mod hold;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

#[cfg(target_os = "linux")]
use hold::hold;
use tokio::task::JoinSet;
use tokio_statemap::timeline::TaskKey;

/// The age of a poll that has some samples.
const AGE: Duration = Duration::from_millis(20);
/// The time after which the program ends in any case. If nothing was sampled by then, the report names no function.
const PATIENCE: Duration = Duration::from_secs(20);

/// The tasks whose long polls were sampled.
static SAMPLED: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
/// Held by the task that blocks.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Returns the path of the file `name` of this run.
fn out(name: &str) -> PathBuf {
    Path::new(&std::env::var_os("OUT").expect("OUT says where the files go")).join(name)
}

/// Returns the id of the current task.
#[cfg(target_os = "linux")]
fn task() -> u64 {
    tokio::task::id().to_string().parse().expect("it is a number")
}

/// Returns whether a long poll of the task was sampled.
#[cfg(target_os = "linux")]
fn is_sampled(task: u64) -> bool {
    SAMPLED.lock().expect("nobody panics").contains(&task)
}

/// Notes which tasks were sampled, and ends a program that blocks forever.
///
/// A thread does that: a timer wouldn't fire if the worker that looks for timers is blocked.
fn watch(is_endless: bool) {
    let (send, samples) = mpsc::channel();
    // A listener is called once for each poll, and on a busy machine perhaps before it has a stack; the next one is called
    // later.
    for times in [1, 2, 4, 8, 16, 32, 64] {
        let send = send.clone();
        let collector = tokio_statemap::current().expect("it is recorded");
        collector.on_long_poll(AGE * times, move |poll| {
            if let (TaskKey::Spawned(id), false) = (poll.task, poll.frames.is_empty()) {
                SAMPLED.lock().expect("nobody panics").insert(id);
                let _ = send.send(());
            }
        });
    }
    std::thread::spawn(move || {
        while samples.recv_timeout(PATIENCE).is_ok() && !is_endless {}
        std::process::exit(0);
    });
}

#[tokio_statemap::main(worker_threads = 2, report = out("report.txt"), tasks = out("tasks.json"))]
async fn main() {
    let way = std::env::args().next_back().expect("the way is an argument");
    watch(["endless", "name"].contains(&&*way));
    let mut tasks = JoinSet::new();
    for number in 0..24 {
        let way = way.clone();
        tasks.spawn(async move {
            tokio::time::sleep(Duration::from_millis(number)).await;
            if number % 8 == 0 {
                // One blocks at a time: otherwise they would wait for each other.
                let _turn = TURN.lock().await;
                hold(&way).await;
            }
        });
    }
    tasks.join_all().await;
}
