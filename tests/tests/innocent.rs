//! Nobody is accused of what the machine does: healthy programs beside others that take both processors.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::fs;
use std::sync::Mutex;
use std::time::Duration;

use tests::innocent::{BusyLoops, healthy};
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio_statemap::report::{Report, Verdict};
use tokio_statemap::{CollectorConfig, register_hooks};

/// The tests run one after the other: one takes the processors.
static ALONE: Mutex<()> = Mutex::new(());

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

#[test]
fn healthy_programs_beside_busy_loops_are_not_accused() {
    let _alone = ALONE.lock();
    let others = BusyLoops::start(4);
    let (mut excused, mut accused) = (0, Vec::new());
    for _ in 0..20 {
        let report = report_of(healthy);
        excused += report.excused.polls;
        let is_verdict = matches!(report.verdict, Verdict::Busy { .. } | Verdict::LongPolls { .. });
        if is_verdict || !report.culprits.is_empty() {
            let is_short = report.culprits.iter().all(|culprit| culprit.own_ns < 10_000_000);
            assert!(is_short && !report.culprits.is_empty(), "{report}");
            accused.push(report.to_string());
        }
        if report.machine.run_delay_ns > report.recorded_ns / 50 {
            let said = ["for a processor while others ran", "The container's limit of"];
            assert!(said.iter().any(|said| report.to_string().contains(said)), "{report}");
        }
    }
    drop(others);
    println!("{excused} polls were long only because the processor was taken away");
    // The host of a virtual machine may stop it in a way that its kernel counts as the thread's own time. One
    // poll of some milliseconds in all of these may have a witness for that.
    assert!(accused.len() <= 1, "{}", accused.join("\n\n"));
}

#[test]
fn those_who_only_yield_are_named_beside_healthy_ones() {
    let _alone = ALONE.lock();
    let mut named = 0;
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
        assert!(report.culprits.iter().all(|culprit| culprit.own_ns < 10_000_000), "{report}");
        let Verdict::Busy { row, .. } = &report.verdict else { continue };
        let location = row.place.location.expect("it is recorded");
        assert_eq!((location.file, location.line), (file!(), line), "{report}");
        named += 1;
    }
    // Where the host stops the machine for as long as the program runs, nobody stands out.
    assert!(named >= 15, "{named} of 20");
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
fn the_run_delay_is_what_the_kernel_counts() {
    let _alone = ALONE.lock();
    let others = BusyLoops::start(4);
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).thread_name("delayed").enable_all();
    let collector = register_hooks(&mut builder, CollectorConfig::default()).unwrap();
    let runtime = builder.build().unwrap();
    let nap = Duration::from_millis(100);
    // Not by this thread, which would be one of those that are recorded.
    runtime.spawn(async {
        let mut tasks = JoinSet::new();
        healthy(&mut tasks);
        while tasks.join_next().await.is_some() {}
    });
    std::thread::sleep(nap);
    let before_ns = run_delay_ns("delayed");
    collector.start();
    std::thread::sleep(20 * nap);
    collector.stop();
    let counted_ns = run_delay_ns("delayed") - before_ns;
    drop(others);
    let report = collector.snapshot().report();
    let told_ns = report.machine.run_delay_ns;
    println!("{report}\n\n{told_ns} of {counted_ns}");
    // What was before the first reading of a thread, and after its last, isn't known: each may be a slice of
    // time of every other thread on its processor, and so may the time that this test's readings take.
    let slack_ns = nap.as_nanos() as u64;
    assert!(told_ns <= counted_ns + counted_ns / 10 + slack_ns, "{told_ns} of {counted_ns}");
    assert!(told_ns + counted_ns / 10 + slack_ns >= counted_ns, "{told_ns} of {counted_ns}");
}
