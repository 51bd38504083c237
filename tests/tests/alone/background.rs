//! One background thread serves all runtimes of a process, ends when nothing is recorded, and loses nothing where
//! all threads share one processor.
#![cfg(all(tokio_unstable, target_os = "linux"))]

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use std::{fs, mem, thread};

use tests::alone::alone;
use tests::load::yields;
use tests::runtime::{builder, counting_hooks};
use tokio::runtime::{Builder, Runtime};
use tokio_statemap::{Collector, CollectorConfig, register_hooks, register_hooks_with};

/// Returns the number of this crate's background threads in the process.
fn background_threads() -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    // A thread that ends meanwhile has no name any more.
    let names = threads.filter_map(|thread| fs::read(thread.ok()?.path().join("comm")).ok());
    names.filter(|name| name == b"tokio-statemap\n").count()
}

/// Waits until the process has this number of background threads: a thread has its name once it runs, and ends shortly after
/// its work.
fn wait_for_background_threads(threads: usize) {
    let since = Instant::now();
    loop {
        let there = background_threads();
        if there == threads {
            return;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "there are {there}, not {threads}");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn three_hundred_runtimes_share_one_thread() {
    alone(three_hundred_runtimes);
}

fn three_hundred_runtimes() {
    const RUNTIMES: u64 = 300;
    wait_for_background_threads(0);
    let recorded: Vec<(Arc<Collector>, Runtime)> = (0..RUNTIMES)
        .map(|_| {
            let mut builder = Builder::new_current_thread();
            let collector = register_hooks(&mut builder, CollectorConfig::default()).unwrap();
            assert_eq!(background_threads(), 0, "nothing records yet");
            (collector, builder.build().unwrap())
        })
        .collect();
    for (number, (collector, runtime)) in (0..).zip(&recorded) {
        collector.start();
        runtime.block_on(yields(number % 7 + 1, number % 50 + 1));
        wait_for_background_threads(1);
    }
    for (number, (collector, _)) in (0..).zip(&recorded) {
        let timeline = collector.snapshot();
        let (tasks, polls) = (number % 7 + 1, number % 50 + 1);
        assert_eq!((timeline.tasks.len() as u64, timeline.lost.total()), (tasks, 0));
        assert!(timeline.tasks.iter().all(|task| task.polls.len() as u64 == polls), "{number}");
        wait_for_background_threads(1);
        collector.stop();
    }
    wait_for_background_threads(0);
    // The next start has a thread again.
    recorded[0].0.start();
    wait_for_background_threads(1);
    recorded[0].0.stop();
    wait_for_background_threads(0);
}

/// Restricts the calling thread, and those that it starts from now on, to one processor.
fn pin_to_one_processor() {
    // SAFETY: The length is that of the set, and all zeros are an empty set.
    unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        let size = mem::size_of_val(&set);
        assert_eq!(libc::sched_getaffinity(0, size, &raw mut set), 0);
        let first = (0..libc::CPU_SETSIZE as usize).find(|&cpu| libc::CPU_ISSET(cpu, &set));
        libc::CPU_ZERO(&mut set);
        libc::CPU_SET(first.expect("it runs on one"), &mut set);
        assert_eq!(libc::sched_setaffinity(0, size, &raw const set), 0);
    }
}

/// Two workers emit far more than is kept, and the background thread runs only where they are preempted.
#[test]
fn one_processor_for_all_loses_nothing() {
    alone(one_processor);
}

fn one_processor() {
    wait_for_background_threads(0);
    let on_one = thread::spawn(|| {
        pin_to_one_processor();
        let (hooks, emitted) = counting_hooks();
        let config = CollectorConfig { max_events: 20_000, ..CollectorConfig::default() };
        let mut builder = builder(2);
        let collector = register_hooks_with(&mut builder, config, hooks).unwrap();
        collector.start();
        let runtime = builder.build().unwrap();
        runtime.block_on(yields(20, 20_000));
        wait_for_background_threads(1);
        drop(runtime);
        collector.stop();
        let timeline = collector.snapshot();
        let whole = timeline.whole_run().unwrap();
        assert_eq!(timeline.events + timeline.lost.total(), emitted.load(Ordering::Relaxed));
        assert_eq!((whole.tasks, whole.polls), (20, 20 * 20_000));
        assert!(timeline.lost.dropped_events > 0 && timeline.events <= 20_000);
    });
    on_one.join().unwrap();
    wait_for_background_threads(0);
}
