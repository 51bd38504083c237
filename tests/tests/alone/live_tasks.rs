//! The cost of many live tasks, in the flight recorder and in a snapshot.
//!
//! With `--release` there are a million tasks, and with `--nocapture` it prints the figures.
#![cfg(all(tokio_unstable, target_os = "linux"))]

use std::io;
use std::sync::Arc;
use std::time::Instant;

use tests::allocations::{bytes, peak_bytes, reset_peak};
use tests::alone::alone;
use tokio::runtime::Builder;
use tokio::task::yield_now;
use tokio_statemap::statemap::{Labels, write_tasks};
use tokio_statemap::timeline::TaskKey;
use tokio_statemap::{Collector, CollectorConfig, TaskState, register_hooks};

const TASKS: usize = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };

/// Calls `f` and prints its time and memory. Returns its result and the largest growth of allocated bytes.
fn measured<R>(what: &str, f: impl FnOnce() -> R) -> (R, usize) {
    let before = reset_peak();
    let (cpu, began) = (cpu_seconds(), Instant::now());
    let result = f();
    let more = peak_bytes() - before;
    println!(
        "{what}: {:.3} s, of CPU {:.3} s; {} MB more at most, {} bytes a task",
        began.elapsed().as_secs_f64(),
        cpu_seconds() - cpu,
        more / 1_000_000,
        more / TASKS,
    );
    (result, more)
}

/// Returns the CPU time of the whole process, in seconds.
fn cpu_seconds() -> f64 {
    // SAFETY: The call fills `usage` in, for which all zeros are valid.
    let usage = unsafe {
        let mut usage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_SELF, &mut usage), 0);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Emits events until the older ones are evicted, so that only `LiveTasks` knows the tasks.
async fn pass_time(events: usize) {
    for _ in 0..events {
        yield_now().await;
    }
}

#[test]
#[ignore = "slow: 100 000 tasks"]
fn a_million_live_tasks_are_few_bytes_each() {
    alone(live_tasks);
}

fn live_tasks() {
    let max_events = 10_000;
    let config = CollectorConfig { max_events, ..CollectorConfig::default() };
    let mut builder = Builder::new_current_thread();
    let collector: Arc<Collector> = register_hooks(&mut builder, config).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    // The same program without the collector shows what Tokio takes.
    let plain = Builder::new_current_thread().build().unwrap();
    let spawn = || async {
        for _ in 0..TASKS {
            tokio::spawn(std::future::pending::<()>());
            yield_now().await;
        }
    };
    let run = |runtime: &tokio::runtime::Runtime| {
        let before = bytes();
        runtime.block_on(async { tokio::spawn(spawn()).await.unwrap() });
        bytes() - before
    };
    let tokio_bytes = run(&plain);
    drop(plain);
    let all_bytes = run(&runtime);
    runtime.block_on(async { tokio::spawn(pass_time(4 * max_events)).await.unwrap() });
    let a_task = all_bytes.saturating_sub(tokio_bytes) / TASKS;
    println!("{TASKS} tasks: {} bytes of Tokio's each, {a_task} of ours", tokio_bytes / TASKS);
    // This includes the kept records, and chunks that the background thread is yet to take: on a busy machine it is behind.
    const CHUNKS: usize = 1_000_000;
    assert!(a_task <= 60 + CHUNKS / TASKS, "{a_task}");

    // On a busy machine the background thread may be behind. A first snapshot takes what it has left, but for the chunks that
    // it has in its hands.
    drop(collector.snapshot());
    let (timeline, more) = measured("snapshot", || collector.snapshot());
    assert!(more <= 100 * TASKS + CHUNKS, "{more}");
    assert!(timeline.tasks.len() >= TASKS, "{}", timeline.tasks.len());

    let (report, more) = measured("report", || timeline.report());
    // The sums of the run include the two tasks that have ended.
    assert!(
        report.counts.live_tasks >= TASKS as u64
            && report.counts.tasks == report.counts.live_tasks + 2,
        "{report}"
    );
    assert!(more <= 1_000_000, "{more}");

    let labels = Labels { title: "live".to_owned(), host: None };
    let (_, more) = measured("data", || write_tasks(&timeline, &labels, io::sink()).unwrap());
    assert!(more <= 8_000_000, "{more}");

    let mut page = Vec::new();
    measured("page", || timeline.write_html(&mut page).unwrap());
    println!("a page of {} MB", page.len() / 1_000_000);
    drop(page);
    measured("svg", || timeline.write_svg(io::sink()).unwrap());

    let (waiting, more) = measured("one by one", || {
        let tasks = timeline.tasks.one_by_one();
        tasks.filter(|task| task.polls.is_empty() && task.first_state == TaskState::Waiting).count()
    });
    assert!(waiting >= TASKS - max_events, "{waiting}");
    assert_eq!(more, 0);

    // The vector has the same tasks.
    let (keys, _) = measured("the vector", || {
        timeline.tasks.iter().map(|task| task.key).collect::<Vec<TaskKey>>()
    });
    assert!(timeline.tasks.one_by_one().map(|task| task.key).eq(keys.iter().copied()));
    assert!(keys.is_sorted());
    measured("the end of the runtime", || drop(runtime));
    let (timeline, _) = measured("snapshot of the end", || collector.snapshot());
    assert!(
        timeline
            .tasks
            .iter()
            .all(|task| task.terminated_ns.is_some() || task.key == TaskKey::Root(0))
    );
}
