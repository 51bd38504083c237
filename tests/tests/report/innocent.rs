//! Nobody is accused of what the machine does: healthy programs beside others that take both processors.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::fs;
use std::time::{Duration, Instant};

use tests::alone::alone;
use tests::innocent::{BusyLoops, healthy};
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio_statemap::report::{Report, Verdict};
use tokio_statemap::{CollectorConfig, register_hooks};

/// Of how many runs it is counted what is said.
const RUNS: usize = 15;

/// What is said of tasks that are spawned by `spawn` and run for a tenth of a second.
fn report_of(spawn: impl FnOnce(&mut JoinSet<()>)) -> Report {
    let mut builder = Builder::new_multi_thread();
    let collector =
        register_hooks(builder.worker_threads(2).enable_all(), CollectorConfig::default()).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        spawn(&mut tasks);
        tokio::time::sleep(Duration::from_millis(100)).await;
        collector.stop();
        tasks.abort_all();
    });
    let report = collector.snapshot().report();
    println!("{report}\n");
    report
}

#[test]
#[ignore = "slow: 15 runs"]
fn healthy_programs_beside_busy_loops_are_not_accused() {
    alone(beside_busy_loops);
}

fn beside_busy_loops() {
    let others = BusyLoops::for_all_processors();
    let (mut excused, mut accused) = (0, Vec::new());
    for _ in 0..RUNS {
        let report = report_of(healthy);
        excused += report.excused.polls;
        let is_verdict = matches!(report.verdict, Verdict::Busy { .. } | Verdict::LongPolls { .. });
        if is_verdict || !report.culprits.is_empty() {
            accused.push(report.to_string());
        }
        if report.machine.run_delay_ns > report.recorded_ns / 50 {
            let said = ["for a processor while others ran", "The container's limit of"];
            assert!(said.iter().any(|said| report.to_string().contains(said)), "{report}");
        }
    }
    drop(others);
    println!("{excused} polls were long only because the processor was taken away");
    println!("{} of {RUNS} runs accuse someone", accused.len());
    assert!(excused > 0, "the busy loops took no processor");
    // The host of a virtual machine may stop it in a way that its kernel counts as the thread's own time, and a poll may
    // have a witness for that. Where what others take is no excuse, nearly every run accuses someone.
    assert!(accused.len() <= 2, "{}", accused.join("\n\n"));
}

#[test]
#[ignore = "slow: 15 runs"]
fn those_who_only_yield_are_named_beside_healthy_ones() {
    alone(only_yield);
}

fn only_yield() {
    let mut named = 0;
    for _ in 0..RUNS {
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
        let Verdict::Busy { row, .. } = &report.verdict else { continue };
        let location = row.place.location.expect("it is recorded");
        assert_eq!((location.file, location.line), (file!(), line), "{report}");
        named += 1;
    }
    println!("they are named in {named} of {RUNS} runs");
    // Where others take the machine for as long as the program runs, nobody stands out: beside six busy loops it was named in
    // a third of the runs.
    assert!(named >= 3, "{named} of {RUNS}");
}

/// How long the threads of this process with this name were ready to run and did not, in ns, as the kernel
/// counts it.
fn run_delay_ns(name: &str) -> u64 {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let of_thread = threads.filter_map(|thread| {
        let thread = thread.ok()?.path();
        let is_it = fs::read_to_string(thread.join("comm")).ok()?.trim() == name;
        let schedstat = fs::read_to_string(thread.join("schedstat")).ok().filter(|_| is_it)?;
        schedstat.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()
    });
    of_thread.sum()
}

#[test]
#[ignore = "slow: 15 runs"]
fn the_run_delay_is_what_the_kernel_counts() {
    alone(run_delay);
}

fn run_delay() {
    // So much is counted, or else as much as is within the time.
    const ENOUGH_NS: u64 = 1_000_000_000;
    const PATIENCE: Duration = Duration::from_secs(10);
    let others = BusyLoops::for_all_processors();
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).thread_name("delayed").enable_all();
    let collector = register_hooks(&mut builder, CollectorConfig::default()).unwrap();
    let runtime = builder.build().unwrap();
    // Not by this thread, which would be one of those that are recorded.
    runtime.spawn(async {
        let mut tasks = JoinSet::new();
        healthy(&mut tasks);
        while tasks.join_next().await.is_some() {}
    });
    // What the threads wait for before they are known is before the first reading.
    let since = Instant::now();
    while run_delay_ns("delayed") == 0 && since.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
    }
    let before_ns = run_delay_ns("delayed");
    collector.start();
    let since = Instant::now();
    while run_delay_ns("delayed") - before_ns < ENOUGH_NS && since.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(10));
    }
    collector.stop();
    let around_ns = run_delay_ns("delayed") - before_ns;
    drop(others);
    let report = collector.snapshot().report();
    let told_ns = report.machine.run_delay_ns;
    println!("{report}\n\n{told_ns} of {around_ns}");
    assert!(around_ns > 0, "the busy loops took no processor");
    // All that is told is between readings of the same counter that are around it. What was before the first reading of a
    // thread, and after its last, isn't told: that is a part, and the more is waited for, the less.
    assert!(told_ns <= around_ns, "{told_ns} of {around_ns}");
    assert!(told_ns >= around_ns / 10 * 7, "{told_ns} of {around_ns}");
}
