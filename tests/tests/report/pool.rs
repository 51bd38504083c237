//! A blocking pool that is exhausted is named, with the line that spawns; a healthy one isn't mentioned.
//!
//! How long tasks waited is tested on planted readings, beside the code that computes it: `trace/timeline/pool.rs`.
//! Tasks here wait until the test has seen the queue that it wants, so that counts follow from the program.
#![cfg(tokio_unstable)]

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle};
use tokio::task::{JoinSet, spawn_blocking};
use tokio_statemap::report::{Report, Verdict};
use tokio_statemap::statemap::read::read;
use tokio_statemap::statemap::{Recording, recordings};
use tokio_statemap::{Collector, CollectorConfig, Timeline, register_hooks};

const MS: Duration = Duration::from_millis(1);
/// It only keeps a test from hanging.
const PATIENCE: Duration = Duration::from_secs(60);
/// A task waits at least so long where it is to wait: this is twice what an exhausted pool takes.
const LONG_WAIT: Duration = Duration::from_millis(20);

/// What is recorded of `program` in a runtime with so many threads for blocking tasks, beside a task that
/// works every ms. The runtime is gone before the recording ends: nothing of its threads is missing.
fn recorded<F>(threads: usize, program: impl FnOnce(Arc<Collector>) -> F) -> Timeline
where
    F: Future<Output = ()>,
{
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).max_blocking_threads(threads).enable_all();
    let config = CollectorConfig { long_poll: MS, ..CollectorConfig::default() };
    let collector = register_hooks(&mut builder, config).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
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

/// Tasks of the pool wait here for a permit, each for one. When there are no more to come they all go on.
#[derive(Clone)]
struct Gate(Arc<Mutex<Receiver<()>>>);

impl Gate {
    fn new() -> (Sender<()>, Self) {
        let (permits, gate) = channel();
        (permits, Self(Arc::new(Mutex::new(gate))))
    }

    /// Goes on for a while then, so that the task is seen to have done something.
    fn pass(&self) {
        let _ = self.0.lock().unwrap().recv();
        sleep(MS);
    }
}

/// Waits until so many tasks are in the pool's queue.
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

/// The text in one line: the report breaks its own.
fn text(report: &Report) -> String {
    report.to_string().replace('\n', " ")
}

/// 50 tasks for two threads: one of them ends while all others wait, and then all go on.
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

#[test]
fn an_exhausted_pool_is_the_verdict_with_the_line_that_spawns() {
    // A machine that is busy may hold a worker up in a run, too, in a way that nobody explains.
    const RUNS: usize = 5;
    let mut is_verdict = 0;
    for _ in 0..RUNS {
        let line = line!() + 3;
        let timeline = recorded(2, |_| {
            exhaust(|tasks, gate| {
                tasks.spawn_blocking(move || gate.pass());
            })
        });
        let report = timeline.report();
        let pool = report.exhausted_pool.expect("it is exhausted");
        let location = pool.location.expect("it is recorded");
        assert_eq!((location.file, location.line), (file!(), line), "{report}");
        assert_eq!((pool.threads, pool.other_locations), (2, 0), "{report}");
        // The queue has 48 tasks, or more until both threads have begun, and 47 when the first task ends.
        assert!((47..=50).contains(&pool.most_waiting), "{pool:?}");
        // So many end while others wait; two may end at once, and see the same queue.
        assert!((48..=50).contains(&pool.tasks), "{pool:?}");
        let said = "The blocking pool was exhausted: up to ";
        assert!(text(&report).contains(said), "{report}");
        let named = format!("spawned at {}:{line}:{}.", file!(), location.column);
        assert!(text(&report).contains(&named), "{report}");
        if matches!(report.verdict, Verdict::ExhaustedPool { .. }) {
            assert!(text(&report).starts_with(said), "{report}");
            is_verdict += 1;
        }
    }
    println!("it is the verdict of {is_verdict} of {RUNS} runs");
    assert!(is_verdict > 0, "of {RUNS} runs");
}

#[test]
fn a_pool_where_nothing_ends_is_seen_while_workers_work() {
    if !cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))) {
        return; // workers have no readings
    }
    let mut seen = None;
    recorded(2, |collector| {
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
                assert!(since.elapsed() < PATIENCE, "it isn't seen");
                tokio::time::sleep(10 * MS).await;
                *seen = Some(collector.snapshot().report())
                    .filter(|report| report.exhausted_pool.is_some());
            }
            drop(permits);
        }
    });
    let report = seen.expect("it was waited for");
    let pool = report.exhausted_pool.expect("it is exhausted");
    assert_eq!((pool.threads, pool.tasks), (2, 0), "{report}");
    // Until the two threads begin their tasks wait, too.
    assert!((18..=20).contains(&pool.most_waiting), "{report}");
    assert!(text(&report).contains("None of the tasks that had them was seen to end."), "{report}");
}

#[test]
fn a_pool_with_a_thread_for_each_is_not_mentioned() {
    for _ in 0..3 {
        let timeline = recorded(512, |_| async {
            for _ in 0..5 {
                // None ends before each has its thread.
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
    let timeline = recorded(2, |_| {
        exhaust(|tasks, gate| {
            tasks.spawn_blocking(move || gate.pass());
        })
    });
    let said = timeline.report().verdict.to_string();
    let data = timeline.to_data();
    let files = [
        read(&data.tasks_to_bytes().unwrap()[..]).unwrap(),
        read(&data.workers_to_bytes().unwrap()[..]).unwrap(),
    ];
    let recordings = recordings(&files);
    let [Recording::Run { timeline: again, .. }] = &recordings[..] else { panic!("one run") };
    assert_eq!(again.exhausted_pool, timeline.exhausted_pool);
    assert_eq!(again.report().verdict.to_string(), said);
    let (mut page, mut svg) = (Vec::new(), Vec::new());
    timeline.write_html(&mut page).unwrap();
    timeline.write_svg(&mut svg).unwrap();
    let mut of_files = Vec::new();
    again.write_html(&mut of_files).unwrap();
    let queue = tests::page::check(&page).unwrap().meta["runs"][0]["queue"].clone();
    assert_eq!(tests::page::check(&of_files).unwrap().meta["runs"][0]["queue"], queue);
    let lengths = queue.as_array().unwrap().iter().map(|change| change[1].as_u64().unwrap());
    let lengths: Vec<_> = lengths.collect();
    // One is left behind by each task that ends, unless two end at once; until the threads begin all 50 wait.
    assert!((47..=50).contains(lengths.iter().max().unwrap()), "{lengths:?}");
    assert!(lengths.len() >= 24 && lengths.last() == Some(&0), "it is drained: {lengths:?}");
    for bytes in [page, svg] {
        let written = String::from_utf8(bytes).unwrap();
        assert!(written.contains(&said[..40]), "{said}");
    }
}
