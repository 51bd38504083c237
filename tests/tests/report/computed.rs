//! What polls compute is named by function, also where no poll is long.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tests::files::read_again;
use tests::first_issue::busy_workers;
use tests::runtime::{builder, recorded};
use tokio::task::yield_now;
use tokio_statemap::timeline::CpuTime;
use tokio_statemap::{Collector, CollectorConfig};

/// The samples that are waited for: 20 are enough for a report.
const SAMPLES: u64 = 40;
const PATIENCE: Duration = Duration::from_secs(60);

/// Takes some 100 µs.
#[inline(never)]
fn scores() {
    let mut x = 3_u64;
    for i in 0..if cfg!(debug_assertions) { 10_000 } else { 100_000 } {
        x = black_box(x.rotate_left(7) ^ i);
    }
}

#[inline(never)]
fn ranks() {
    scores();
    black_box(());
}

fn samples(collector: &Collector) -> u64 {
    let cpu = collector.snapshot().cpu;
    cpu.others.samples + cpu.stacks.iter().map(|stack| stack.sampled.samples).sum::<u64>()
}

#[test]
fn what_short_polls_compute_is_named_with_its_caller() {
    for workers in [0, 2] {
        let (collector, runtime) = recorded(builder(workers), CollectorConfig::default());
        let until = Instant::now() + PATIENCE;
        // On a thread of its own: what a snapshot takes would be sampled in a poll.
        let is_enough = Arc::new(AtomicBool::new(false));
        let watches = std::thread::spawn({
            let (collector, is_enough) = (Arc::clone(&collector), Arc::clone(&is_enough));
            move || {
                while samples(&collector) < SAMPLES && Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(50));
                }
                is_enough.store(true, Ordering::Relaxed);
            }
        });
        runtime.block_on(async {
            for _ in 0..4 {
                tokio::spawn(async {
                    loop {
                        ranks();
                        yield_now().await;
                    }
                });
            }
            while !is_enough.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
        watches.join().unwrap();
        drop(runtime);
        collector.stop();
        let timeline = collector.snapshot();
        let report = timeline.report();
        let text = report.to_string();
        let first = report.computed.functions.first().unwrap_or_else(|| panic!("{text}"));
        let name = concat!(module_path!(), "::scores");
        assert_eq!(&*first.frame.function, name, "{text}");
        // Only samples with a stack count here: on a busy machine some have none.
        let seen_ns: u64 = report.computed.functions.iter().map(|function| function.cpu_ns).sum();
        assert!(first.cpu_ns > seen_ns / 2, "{text}");
        let callers: Vec<_> = first.callers.iter().map(|caller| &*caller.function).collect();
        assert_eq!(callers.first(), Some(&concat!(module_path!(), "::ranks")), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("Where polls computed"), "{text}");
        // On a busy machine, polls may compute for less than a third of the time.
        if let Some(computed) = busy_workers(&report).and_then(|busy| busy.computed.as_ref()) {
            let line = first.frame.line.expect("it has lines");
            assert_eq!(computed, first);
            let said = format!(
                "of what polls computed was in {name} at tests/tests/report/computed.rs:{line}."
            );
            assert!(words.contains(&said), "{text}");
        }
        assert_eq!(read_again(&timeline).report().to_string(), text);
    }
}

#[test]
fn without_stacks_nothing_is_said_of_it() {
    let config = CollectorConfig { stacks: false, ..CollectorConfig::default() };
    let (collector, runtime) = recorded(builder(1), config);
    runtime.block_on(async {
        let until = Instant::now() + Duration::from_millis(500);
        while Instant::now() < until {
            tokio::spawn(async { ranks() }).await.unwrap();
        }
    });
    drop(runtime);
    collector.stop();
    let timeline = collector.snapshot();
    assert_eq!(timeline.cpu, CpuTime::default());
    let report = timeline.report();
    assert!(!report.to_string().contains("polls computed"), "{report}");
}
