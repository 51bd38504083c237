//! Threads that emitted much, and then do nothing, keep little memory.
#![cfg(all(tokio_unstable, target_os = "linux"))]

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use tests::alone::alone;
use tokio::runtime::Builder;
use tokio::task::yield_now;
use tokio_statemap::{CollectorConfig, register_hooks};

/// The resident memory of this process that is not part of a file, in KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

const THREADS: usize = 64;

#[test]
#[ignore = "slow: waits until memory goes back"]
fn what_a_burst_took_goes_back() {
    alone(goes_back);
}

fn goes_back() {
    // Few, so that what is kept of all threads together is little beside what each of them has.
    let config =
        CollectorConfig { max_events: 200_000, stacks: false, ..CollectorConfig::default() };
    // An event takes 16 bytes; the least buffer that is worth it has 1024.
    let (all_kib, buffer_kib) = (config.max_events as u64 * 16 / 1024, 16);
    let mut builder = Builder::new_multi_thread();
    let collector = register_hooks(builder.worker_threads(1), config).unwrap();
    let runtime = Arc::new(builder.build().unwrap());
    collector.start();
    let ended = Arc::new(Barrier::new(THREADS + 1));
    let burst = |polls: u32| {
        collector.block_on(&runtime, async move {
            for _ in 0..polls {
                yield_now().await;
            }
        });
    };
    // First as much as is kept, so that the store is as large as it gets.
    burst(300_000);
    let before_kib = resident_kib();
    let bursts: Vec<_> = (0..THREADS)
        .map(|_| {
            let (begins, begun) = std::sync::mpsc::channel::<()>();
            let (collector, runtime) = (Arc::clone(&collector), Arc::clone(&runtime));
            let ended = Arc::clone(&ended);
            let thread = thread::spawn(move || {
                begun.recv().unwrap();
                collector.block_on(&runtime, async {
                    for _ in 0..30_000 {
                        yield_now().await;
                    }
                });
                ended.wait();
                // Until all is looked at.
                ended.wait();
            });
            (begins, thread)
        })
        .collect();
    bursts.iter().for_each(|(begins, _)| begins.send(()).unwrap());
    ended.wait();
    let since = Instant::now();
    // Beside the store what waits for polls to end and what is ready to be used, a buffer for each thread, and what a thread
    // takes by itself.
    let most_kib = before_kib + all_kib * 3 / 4 + THREADS as u64 * (buffer_kib + 48);
    loop {
        let kib = resident_kib();
        if kib <= most_kib {
            break;
        }
        let each = kib.saturating_sub(before_kib) / THREADS as u64;
        assert!(since.elapsed() < Duration::from_secs(20), "{each} KiB with each thread");
        thread::sleep(Duration::from_millis(100));
    }
    ended.wait();
    bursts.into_iter().for_each(|(_, thread)| thread.join().unwrap());
}
