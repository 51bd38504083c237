//! `block_in_place` keeps a worker free, but not the task that calls it: what that awaits at the same time stands still.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::time::{Duration, Instant};

use tests::runtime::builder;
use tokio::task::{block_in_place, yield_now};
use tokio::time::{sleep, timeout};
use tokio_statemap::report::{Besides, InPlace, Issue};
use tokio_statemap::{CollectorConfig, register_hooks};

/// So long may it take until the report says it.
const PATIENCE: Duration = Duration::from_secs(60);

const IMPORTS: u32 = line!() + 3;

fn import() {
    std::thread::sleep(Duration::from_millis(150));
}

async fn job() {
    loop {
        block_in_place(import);
        yield_now().await;
    }
}

const BEATS: u32 = line!() + 4;

async fn heartbeat() {
    loop {
        sleep(Duration::from_millis(10)).await;
    }
}

/// Runs a task until the report says that it stood still in such a way, or for `enough` if it doesn't. Returns that issue.
fn issue_of(
    task: impl Future<Output = ()> + Send + 'static,
    is_such: fn(&InPlace) -> bool,
    enough: Duration,
) -> Option<Issue> {
    let mut builder = builder(2);
    let collector = register_hooks(builder.enable_all(), CollectorConfig::default()).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    let issue = collector.block_on(&runtime, async {
        tokio::spawn(task);
        let began = Instant::now();
        loop {
            sleep(Duration::from_millis(200)).await;
            let report = collector.snapshot().report();
            let is_it = |issue: &&Issue| matches!(issue, Issue::InPlace(found) if is_such(found));
            let found = report.issues().iter().find(is_it);
            if found.is_some() || began.elapsed() > enough {
                return found.cloned();
            }
        }
    });
    runtime.shutdown_background();
    issue
}

#[test]
fn a_heartbeat_in_the_same_task_stands_still() {
    let task = || async {
        tokio::select! {
            () = job() => {}
            () = heartbeat() => {}
        }
    };
    // Before it has waited, its lines aren't known, but it is in a `select!`.
    let said = issue_of(task(), |_| true, PATIENCE).expect("it is seen").to_string();
    assert!(said.contains(" held its own task up: "), "{said}");
    let has_line = |found: &InPlace| matches!(found.besides, Besides::Line(_));
    let said = issue_of(task(), has_line, PATIENCE).expect("it is seen").to_string();
    let place = |line| format!("at tests/tests/report/in_place.rs:{line}");
    for part in [
        &format!(
            "::import {} held its own task up: it blocked in std::thread::sleep",
            place(IMPORTS)
        ),
        "in block_in_place, for ",
        &format!("what the task also awaits, {}, Sleep, was not polled", place(BEATS)),
    ] {
        assert!(said.contains(part), "{part} isn't in: {said}");
    }
}

#[test]
fn a_task_that_awaits_nothing_else_does_not() {
    let task = async {
        let all = timeout(PATIENCE, async {
            loop {
                sleep(Duration::from_millis(1)).await;
                block_in_place(import);
            }
        });
        let _: Result<(), _> = all.await;
    };
    assert_eq!(issue_of(task, |_| true, Duration::from_secs(2)), None);
}
