//! Nobody is accused of what the machine does: healthy programs beside others that take both processors.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio_statemap::report::{Report, Verdict};
use tokio_statemap::{CollectorConfig, register_hooks};

/// The tests run one after the other: one takes the processors.
static ALONE: Mutex<()> = Mutex::new(());

/// Threads that take as many processors as they get, while it lives.
struct BusyLoops(Arc<AtomicBool>);

impl BusyLoops {
    fn start(threads: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        for _ in 0..threads {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Self(stop)
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn spin(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// What is said of tasks that are spawned by `spawn` and run for 300 ms.
fn report_of(spawn: impl FnOnce(&mut JoinSet<()>)) -> Report {
    let mut builder = Builder::new_multi_thread();
    let collector =
        register_hooks(builder.worker_threads(2).enable_all(), CollectorConfig::default()).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        spawn(&mut tasks);
        tokio::time::sleep(Duration::from_millis(300)).await;
        collector.stop();
        tasks.abort_all();
    });
    let report = collector.snapshot().report();
    println!("{report}\n");
    report
}

fn healthy(tasks: &mut JoinSet<()>) {
    for number in 0..200 {
        tasks.spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(5 + number % 7)).await;
                spin(Duration::from_micros(5));
            }
        });
    }
}

#[test]
fn healthy_programs_beside_busy_loops_are_not_accused() {
    let _alone = ALONE.lock();
    let others = BusyLoops::start(4);
    let mut excused = 0;
    for _ in 0..20 {
        let report = report_of(healthy);
        assert!(report.culprits.is_empty(), "{report}");
        assert!(!matches!(report.verdict, Verdict::Busy { .. } | Verdict::LongPolls { .. }));
        excused += report.excused.polls;
        if report.machine.run_delay_ns > report.recorded_ns / 50 {
            assert!(report.to_string().contains("for a processor while others ran"), "{report}");
        }
    }
    drop(others);
    println!("{excused} polls were long only because the processor was taken away");
}

#[test]
fn those_who_only_yield_are_named_beside_healthy_ones() {
    let _alone = ALONE.lock();
    for _ in 0..20 {
        let line = line!() + 4;
        let report = report_of(|tasks| {
            healthy(tasks);
            for _ in 0..8 {
                tasks.spawn(async {
                    loop {
                        tokio::task::yield_now().await;
                    }
                });
            }
        });
        let Verdict::Busy { row, .. } = &report.verdict else { panic!("{report}") };
        let location = row.place.location.expect("it is recorded");
        assert_eq!((location.file, location.line), (file!(), line), "{report}");
    }
}
