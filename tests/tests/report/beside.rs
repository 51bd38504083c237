//! The report says what another thread did while polls waited for a lock, whatever thread that was.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tests::alone::alone;
use tests::files::read_again;
use tests::runtime::{builder, recorded};
use tokio_statemap::CollectorConfig;
use tokio_statemap::timeline::{FrameOrigin, StackFrame, Timeline};

/// A longer run is not tried.
const PATIENCE: Duration = Duration::from_secs(60);

/// A lock whose holder computes, or sleeps, until it is told to let go.
#[derive(Default)]
struct Table {
    lock: Mutex<u64>,
    is_held: AtomicBool,
    is_over: AtomicBool,
}

impl Table {
    #[inline(never)]
    fn reload(&self, pause: Option<Duration>) {
        let mut table = self.lock.lock().unwrap();
        self.is_held.store(true, Ordering::Release);
        while !self.is_over.load(Ordering::Acquire) {
            *table = std::hint::black_box(*table + 1);
            if let Some(pause) = pause {
                std::thread::sleep(pause);
            }
        }
    }

    #[inline(never)]
    fn price(&self) -> u64 {
        *self.lock.lock().unwrap()
    }
}

/// Records a task that waits for the lock for this time. `hold` starts the holder on some thread.
fn record(time: Duration, hold: fn(Arc<Table>)) -> Timeline {
    let (collector, runtime) = recorded(builder(2), CollectorConfig::default());
    let table = Arc::new(Table::default());
    let reader = Arc::clone(&table);
    collector.block_on(&runtime, async {
        tests::load::wait_for_workers();
        hold(Arc::clone(&table));
        while !table.is_held.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        let waits = tokio::spawn(async move { reader.price() });
        // A thread that sleeps could hold the lock as well. One that waits for a channel doesn't.
        let (_sender, nothing) = std::sync::mpsc::channel::<()>();
        let _ = nothing.recv_timeout(time);
        table.is_over.store(true, Ordering::Release);
        waits.await.unwrap();
    });
    drop(runtime);
    collector.stop();
    collector.snapshot()
}

/// Records longer and longer runs, until the holder was seen: a busy machine may leave no time for samples.
fn record_holder(hold: fn(Arc<Table>)) -> Timeline {
    let mut time = Duration::from_millis(300);
    loop {
        let timeline = record(time, hold);
        let report = timeline.report();
        println!("{report}\n");
        if report.blame.culprits.iter().any(|culprit| culprit.beside.is_some()) {
            return timeline;
        }
        time *= 2;
        assert!(time < PATIENCE, "{report}");
    }
}

fn is_holder(frame: &StackFrame) -> bool {
    frame.origin == FrameOrigin::Program && frame.function.ends_with("Table::reload")
}

/// Checks what is said of the holder, by the run and by its files.
fn check(timeline: &Timeline) {
    let line = |text: &str| {
        let at = include_str!("beside.rs").lines().position(|line| line.contains(text));
        at.expect("it is there") as u32 + 1
    };
    let report = timeline.report();
    let culprits = &report.blame.culprits;
    let beside = culprits.iter().find_map(|culprit| culprit.beside.as_ref()).expect("it was seen");
    assert!(is_holder(&beside.frame), "{beside:?}");
    let lines = line("fn reload")..=line("fn price");
    assert!(beside.frame.line.is_some_and(|line| lines.contains(&line)), "{beside:?}");
    let text = |timeline: &Timeline| timeline.report().to_string().replace('\n', " ");
    assert!(
        text(timeline).contains("another thread was in report::beside::Table::reload"),
        "{report}"
    );
    let read = read_again(timeline);
    assert!(
        text(&read).contains("another thread was in report::beside::Table::reload"),
        "{report}"
    );
}

#[test]
fn a_blocking_task_that_computes() {
    alone(|| {
        check(&record_holder(|table| {
            tokio::task::spawn_blocking(move || table.reload(None));
        }));
    });
}

#[test]
fn a_blocking_task_that_sleeps() {
    alone(|| {
        check(&record_holder(|table| {
            tokio::task::spawn_blocking(move || table.reload(Some(Duration::from_millis(50))));
        }));
    });
}

#[test]
fn a_thread_that_computes() {
    alone(|| {
        check(&record_holder(|table| {
            std::thread::spawn(move || table.reload(None));
        }));
    });
}
