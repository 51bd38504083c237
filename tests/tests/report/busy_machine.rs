//! Healthy tasks aren't blamed for the machine: programs run beside others that take all processors.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::fs;
use std::time::{Duration, Instant};

use tests::alone::alone;
use tests::first_issue::busy_workers;
use tests::load::{BusyLoops, healthy};
use tests::runtime::{builder, recorded};
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio_statemap::report::{Issue, Report};
use tokio_statemap::{CollectorConfig, register_hooks};

/// The number of runs over which a rate is counted.
const RUNS: usize = 15;

/// Returns the report of tasks that `spawn` spawns and that run for a tenth of a second.
fn report_of(spawn: impl FnOnce(&mut JoinSet<()>)) -> Report {
    // To follow the stack of a task that waits at a new place takes a ms in a debug build, of the 100 that are recorded.
    let config = CollectorConfig { wakes: false, ..CollectorConfig::default() };
    let (collector, runtime) = recorded(builder(2), config);
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
fn healthy_programs_beside_busy_loops_are_not_blamed() {
    alone(beside_busy_loops);
}

fn beside_busy_loops() {
    let others = BusyLoops::for_all_processors();
    let (mut unattributed, mut blaming) = (0, Vec::new());
    for _ in 0..RUNS {
        let report = report_of(healthy);
        unattributed += report.blame.unattributed.polls;
        let first = report.issues().first();
        let is_verdict = matches!(first, Some(Issue::BusyWorkers(_) | Issue::LongPolls(_)));
        if is_verdict || !report.blame.culprits.is_empty() {
            blaming.push(report.to_string());
        }
        if report.machine.run_delay_ns > report.recording.recorded_ns / 50 {
            let said = ["for a processor while others ran", "The container's limit of"];
            assert!(said.iter().any(|said| report.to_string().contains(said)), "{report}");
        }
    }
    drop(others);
    println!("{unattributed} polls were long only because the processor was taken away");
    println!("{} of {RUNS} runs blame a task", blaming.len());
    assert!(unattributed > 0, "the busy loops took no processor");
    // The host of a virtual machine may stop it in a way that its kernel counts as the thread's own time, and a sample may
    // seem to confirm that. If the recorder didn't know what others take, nearly every run would blame a task.
    assert!(blaming.len() <= 2, "{}", blaming.join("\n\n"));
}

#[test]
#[ignore = "slow: 15 runs"]
fn tasks_that_only_yield_are_named_beside_healthy_ones() {
    alone(only_yield);
}

fn only_yield() {
    let (mut named, mut others) = (0, Vec::new());
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
        let Some(busy) = busy_workers(&report) else { continue };
        let location = busy.row.place.location.expect("it is recorded");
        if (location.file, location.line) == (file!(), line) {
            named += 1;
        } else {
            others.push(report.to_string());
        }
    }
    println!("they are named in {named} of {RUNS} runs, others in {}", others.len());
    // It isn't known for how long the machine held up short polls.
    assert!(others.len() <= 2, "{}", others.join("\n\n"));
    // If others take the processors for the whole run, no task dominates: beside six busy loops 12 to 15 runs named them.
    assert!(named >= 6, "{named} of {RUNS}");
}

/// Returns the time for which threads of this process with this name were ready to run but didn't, in ns, according to the
/// kernel.
fn run_delay_ns(name: &str) -> u64 {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let delays = threads.filter_map(|thread| {
        let thread = thread.ok()?.path();
        let has_name = fs::read_to_string(thread.join("comm")).ok()?.trim() == name;
        let schedstat = fs::read_to_string(thread.join("schedstat")).ok().filter(|_| has_name)?;
        schedstat.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()
    });
    delays.sum()
}

#[test]
#[ignore = "slow: 15 runs"]
fn the_run_delay_is_what_the_kernel_counts() {
    alone(run_delay);
}

fn run_delay() {
    // The test counts this much, or as much as there is within the time.
    const ENOUGH_NS: u64 = 1_000_000_000;
    const PATIENCE: Duration = Duration::from_secs(10);
    let others = BusyLoops::for_all_processors();
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).thread_name("delayed").enable_all();
    let collector = register_hooks(&mut builder, CollectorConfig::default()).unwrap();
    let runtime = builder.build().unwrap();
    // The tasks are spawned by a worker: this thread would be recorded, too.
    runtime.spawn(async {
        let mut tasks = JoinSet::new();
        healthy(&mut tasks);
        while tasks.join_next().await.is_some() {}
    });
    // Delays of threads that aren't known yet come before the first reading.
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
    let reported_ns = report.machine.run_delay_ns;
    println!("{report}\n\n{reported_ns} of {around_ns}");
    assert!(around_ns > 0, "the busy loops took no processor");
    // The test reads the same counter before the recorder's first reading and after its last one. The report lacks the time
    // outside of these, which is a smaller part the longer the test counts.
    assert!(reported_ns <= around_ns, "{reported_ns} of {around_ns}");
    assert!(reported_ns >= around_ns / 10 * 7, "{reported_ns} of {around_ns}");
}
