//! One background thread serves all runtimes of a process, is gone when nothing records, and loses nothing where
//! there is one processor for all.
#![cfg(all(tokio_unstable, target_os = "linux"))]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, mem, thread};

use tests::alone::alone;
use tests::load::yields;
use tokio::runtime::{Builder, Runtime};
use tokio_statemap::{
    Collector, CollectorConfig, Hooks, TraceTarget, register_hooks, register_hooks_with,
};

/// How many background threads of ours the process has.
fn background_threads() -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    // One that ends meanwhile has no name any more.
    let names = threads.filter_map(|thread| fs::read(thread.ok()?.path().join("comm")).ok());
    names.filter(|name| name == b"tokio-statemap\n").count()
}

/// A thread names itself once it runs, and goes on for a moment after its work.
fn wait_until_there_are(threads: usize) {
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
fn three_hundred_runtimes_share_it() {
    alone(three_hundred_runtimes);
}

fn three_hundred_runtimes() {
    const RUNTIMES: u64 = 300;
    wait_until_there_are(0);
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
        wait_until_there_are(1);
    }
    for (number, (collector, _)) in (0..).zip(&recorded) {
        let timeline = collector.snapshot();
        let (tasks, polls) = (number % 7 + 1, number % 50 + 1);
        assert_eq!((timeline.tasks.len() as u64, timeline.lost.total()), (tasks, 0));
        assert!(timeline.tasks.iter().all(|task| task.polls.len() as u64 == polls), "{number}");
        wait_until_there_are(1);
        collector.stop();
    }
    wait_until_there_are(0);
    // Once more: the first start after that has one again.
    recorded[0].0.start();
    wait_until_there_are(1);
    recorded[0].0.stop();
    wait_until_there_are(0);
}

/// Gives the calling thread, and those that it starts from now on, one processor of those that it has.
fn pin_to_one_processor() {
    // SAFETY: the set is as long as is said, and all zeros are an empty one.
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

/// Two workers emit far more than is kept, and the background thread gets a processor only where they are
/// preempted.
#[test]
fn one_processor_for_all_loses_nothing() {
    alone(one_processor);
}

fn one_processor() {
    wait_until_there_are(0);
    let on_one = thread::spawn(|| {
        pin_to_one_processor();
        let emitted = Arc::new(AtomicU64::new(0));
        let counter = || {
            let emitted = Arc::clone(&emitted);
            move |_: &tokio::runtime::TaskMeta<'_>| {
                emitted.fetch_add(1, Ordering::Relaxed);
            }
        };
        let hooks = Hooks::new()
            .on_task_spawn(counter())
            .on_before_task_poll(counter())
            .on_after_task_poll(counter())
            .on_task_terminate(counter());
        let config = CollectorConfig {
            max_events: 20_000,
            trace_target: TraceTarget::Tasks,
            ..CollectorConfig::default()
        };
        let mut builder = Builder::new_multi_thread();
        let collector = register_hooks_with(builder.worker_threads(2), config, hooks).unwrap();
        collector.start();
        let runtime = builder.build().unwrap();
        runtime.block_on(yields(20, 20_000));
        wait_until_there_are(1);
        drop(runtime);
        collector.stop();
        let timeline = collector.snapshot();
        let whole = timeline.whole_run().unwrap();
        assert_eq!(timeline.events + timeline.lost.total(), emitted.load(Ordering::Relaxed));
        assert_eq!((whole.tasks, whole.polls), (20, 20 * 20_000));
        assert!(timeline.lost.dropped_events > 0 && timeline.events <= 20_000);
    });
    on_one.join().unwrap();
    wait_until_there_are(0);
}
