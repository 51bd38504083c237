//! The report names an exhausted blocking pool with the line that spawns, and doesn't mention a healthy one.
//!
//! Waiting times are tested on planted readings, beside the code that computes them: `trace/timeline/pool.rs`. Tasks here
//! wait until the test has seen the queue that it wants, so that counts follow from the program.
#![cfg(tokio_unstable)]

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tests::files::read_again;
use tests::planted;
use tests::runtime::{builder, recorded};
use tokio::runtime::Handle;
use tokio::task::{JoinSet, spawn_blocking};
use tokio_statemap::report::{Issue, Report};
use tokio_statemap::timeline::ExhaustedPool;
use tokio_statemap::{Collector, CollectorConfig, Timeline};

const MS: Duration = Duration::from_millis(1);
/// The time after which a test fails that would hang.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time for which tasks wait at least, twice as long as it takes for a pool to count as exhausted.
const LONG_WAIT: Duration = Duration::from_millis(20);

/// Records `program` in a runtime with `threads` threads for blocking tasks, beside a task that is polled every ms. The
/// recording ends after the runtime, so that it has everything of its threads.
fn record<F>(threads: usize, program: impl FnOnce(Arc<Collector>) -> F) -> Timeline
where
    F: Future<Output = ()>,
{
    let mut builder = builder(2);
    builder.max_blocking_threads(threads);
    let config = CollectorConfig { long_poll: MS, ..CollectorConfig::default() };
    let (collector, runtime) = recorded(builder, config);
    let program = program(Arc::clone(&collector));
    collector.block_on(&runtime, async {
        tests::load::wait_for_workers();
        tokio::spawn(async {
            loop {
                tokio::time::sleep(MS).await;
            }
        });
        program.await;
    });
    drop(runtime);
    collector.stop();
    let timeline = collector.snapshot();
    println!("{}\n", timeline.report());
    timeline
}

/// Lets each task of the pool wait for a permit. When the sender is dropped, all go on.
#[derive(Clone)]
struct Gate(Arc<Mutex<Receiver<()>>>);

impl Gate {
    fn new() -> (Sender<()>, Self) {
        let (permits, gate) = channel();
        (permits, Self(Arc::new(Mutex::new(gate))))
    }

    /// Waits for a permit, and then runs for 1 ms, so that the recording shows some work.
    fn pass(&self) {
        let _ = self.0.lock().unwrap().recv();
        sleep(MS);
    }
}

/// Waits until this number of tasks is in the pool's queue.
fn wait_for_queue(tasks: usize) {
    let since = Instant::now();
    loop {
        let queue = Handle::current().metrics().blocking_queue_depth();
        if queue == tasks {
            return;
        }
        assert!(since.elapsed() < PATIENCE, "{queue} tasks wait, not {tasks}");
        sleep(MS);
    }
}

/// Returns the report without its line breaks.
fn text(report: &Report) -> String {
    report.to_string().replace('\n', " ")
}

/// Spawns 50 tasks for two threads. One ends while the others wait, and then all go on.
async fn exhaust(spawn: impl Fn(&mut JoinSet<()>, Gate)) {
    let (permits, gate) = Gate::new();
    let mut tasks = JoinSet::new();
    for _ in 0..50 {
        spawn(&mut tasks, gate.clone());
    }
    wait_for_queue(48);
    permits.send(()).unwrap();
    tasks.join_next().await;
    sleep(LONG_WAIT);
    drop(permits);
    while tasks.join_next().await.is_some() {}
}

const EXHAUSTED: &str = "The blocking pool was exhausted: up to ";

/// It isn't always the verdict, as a busy machine may delay a worker for longer.
#[test]
fn an_exhausted_pool_is_reported_with_the_line_that_spawns() {
    let line = line!() + 3;
    let timeline = record(2, |_| {
        exhaust(|tasks, gate| {
            tasks.spawn_blocking(move || gate.pass());
        })
    });
    let report = timeline.report();
    let pool = report.exhausted_pool.expect("it is exhausted");
    let location = pool.location.expect("it is recorded");
    assert_eq!((location.file, location.line), (file!(), line), "{report}");
    assert_eq!((pool.threads, pool.other_locations), (2, 0), "{report}");
    // The queue has 48 tasks, or more until both threads have started, and 47 when the first task ends. A thread that is kept
    // from running while it counts them sees what the other one has left of them.
    assert!((2..=50).contains(&pool.most_waiting), "{pool:?}");
    // 48 tasks end while others wait. Two may end at once and see the same queue.
    assert!((48..=50).contains(&pool.tasks), "{pool:?}");
    assert!(text(&report).contains(EXHAUSTED), "{report}");
    let named = format!("spawned at {}:{line}:{}, for", file!(), location.column);
    assert!(text(&report).contains(&named), "{report}");
    assert!(
        report.issues().iter().any(|issue| matches!(issue, Issue::ExhaustedPool(_))),
        "{report}"
    );
}

#[test]
fn an_exhausted_pool_is_the_verdict_of_an_otherwise_healthy_program() {
    let mut pool = ExhaustedPool::default();
    (pool.threads, pool.tasks, pool.most_waiting) = (2, 50, 48);
    (pool.waited_ns, pool.longest_ns, pool.ran_ns) = (900_000_000, 25_000_000, 50_000_000);
    pool.location = Some(planted::BLOCKS);
    let mut timeline = planted::nearly();
    assert!(timeline.report().issues().is_empty());
    timeline.pool.exhausted = Some(pool);
    let report = timeline.report();
    assert!(matches!(report.issues().first(), Some(Issue::ExhaustedPool(_))), "{report}");
    assert!(text(&report).starts_with(EXHAUSTED), "{report}");
    let named = format!("spawned at {}, for", planted::BLOCKS);
    assert!(text(&report).contains(&named), "{report}");
}

#[test]
fn a_pool_where_no_task_ends_is_reported_while_workers_run() {
    if !cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))) {
        return; // workers take no readings
    }
    let mut seen = None;
    record(2, |collector| {
        let seen = &mut seen;
        async move {
            let (permits, gate) = Gate::new();
            for _ in 0..20 {
                let gate = gate.clone();
                spawn_blocking(move || gate.pass());
            }
            wait_for_queue(18);
            let since = Instant::now();
            while seen.is_none() {
                assert!(since.elapsed() < PATIENCE, "it isn't reported");
                tokio::time::sleep(10 * MS).await;
                *seen = Some(collector.snapshot().report())
                    .filter(|report| report.exhausted_pool.is_some())
                    // On a busy machine, its threads take their time to get there.
                    .filter(|report| text(report).contains("and waited for a std Mutex"))
                    .filter(|report| text(report).contains("and waited for a std channel"));
            }
            drop(permits);
        }
    });
    let report = seen.expect("it was waited for");
    let pool = report.exhausted_pool.expect("it is exhausted");
    assert_eq!((pool.threads, pool.tasks), (2, 0), "{report}");
    // The tasks of the two threads wait, too, until the threads have started.
    assert!((18..=20).contains(&pool.most_waiting), "{report}");
    assert!(
        text(&report).contains("No task occupying a pool thread finished during the recording."),
        "{report}"
    );
    // One of its threads has the lock and waits for a permit, and the other one waits for the lock.
    let in_pass = format!("1 was in report::pool::Gate::pass at {}:", file!());
    let looked_at = format!("At the end, of 2 of its threads, {in_pass}");
    assert!(text(&report).contains(&looked_at), "{report}");
}

#[test]
fn a_pool_with_a_thread_for_each_is_not_mentioned() {
    for _ in 0..3 {
        let timeline = record(512, |_| async {
            for _ in 0..5 {
                // No task ends before all have a thread.
                let all = Arc::new(Barrier::new(50));
                let mut tasks = JoinSet::new();
                for _ in 0..50 {
                    let all = Arc::clone(&all);
                    tasks.spawn_blocking(move || {
                        all.wait();
                        sleep(MS);
                    });
                }
                while tasks.join_next().await.is_some() {}
            }
        });
        let report = timeline.report();
        assert_eq!(report.exhausted_pool, None, "{report}");
        assert!(!text(&report).contains("blocking pool was exhausted"), "{report}");
    }
}

#[test]
fn files_the_page_and_the_svg_say_the_same() {
    let timeline = record(2, |_| {
        exhaust(|tasks, gate| {
            tasks.spawn_blocking(move || gate.pass());
        })
    });
    let said = timeline.report().verdict.to_string();
    let again = read_again(&timeline);
    assert_eq!(again.pool.exhausted, timeline.pool.exhausted);
    assert_eq!(again.report().verdict.to_string(), said);
    let (mut page, mut svg) = (Vec::new(), Vec::new());
    timeline.write_html(&mut page).unwrap();
    timeline.write_svg(&mut svg).unwrap();
    let mut files_page = Vec::new();
    again.write_html(&mut files_page).unwrap();
    let queue = tests::page::check(&page).unwrap().meta["runs"][0]["queue"].clone();
    assert_eq!(tests::page::check(&files_page).unwrap().meta["runs"][0]["queue"], queue);
    let lengths = queue.as_array().unwrap().iter().map(|change| change[1].as_u64().unwrap());
    let lengths: Vec<_> = lengths.collect();
    // Each task that ends leaves a length, unless two end at once. All 50 wait until the threads have started.
    assert!((47..=50).contains(lengths.iter().max().unwrap()), "{lengths:?}");
    assert!(lengths.len() >= 24 && lengths.last() == Some(&0), "it is drained: {lengths:?}");
    for bytes in [page, svg] {
        let written = String::from_utf8(bytes).unwrap();
        assert!(written.contains(&said[..40]), "{said}");
    }
}
