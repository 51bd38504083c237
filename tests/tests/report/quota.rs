//! Nobody is accused of what a container's CPU limit does, and the report says what it did.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::time::Duration;

use tests::alone::alone;
use tests::innocent::healthy;
use tests::left_out::not_allowed;
use tests::quota::{Quota, Stopped};
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio_statemap::report::{Report, Verdict};
use tokio_statemap::{CollectorConfig, register_hooks};

/// A fifth of a processor.
const MILLIS: u64 = 200;

/// What the kernel counted: between readings just within the recording, and just around it.
#[derive(Debug)]
struct Counted {
    within: Stopped,
    around: Stopped,
}

/// How many runs are counted.
const RUNS: usize = 10;

/// The report of a healthy program under the limit, of two of its periods at least, and what the kernel counted meanwhile.
fn run(quota: &Quota) -> (Report, Counted) {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all();
    let collector = register_hooks(&mut builder, CollectorConfig::default()).unwrap();
    let since = |before: Stopped| quota.stopped().since(before);
    let before_start = quota.stopped();
    collector.start();
    let after_start = quota.stopped();
    let runtime = builder.build().unwrap();
    let within = runtime.block_on(async {
        let mut tasks = JoinSet::new();
        healthy(&mut tasks);
        tokio::time::sleep(Duration::from_millis(200)).await;
        since(after_start)
    });
    collector.stop();
    let around = since(before_start);
    let timeline = collector.snapshot();
    // What a false accusation would be made of.
    for poll in timeline.tasks.iter().flat_map(|task| &task.polls) {
        if timeline.held_ns(poll) > 1_000_000 {
            println!("{poll:?}: {:?}, {:?}", timeline.cause(poll), timeline.samples(poll));
        }
    }
    (timeline.report(), Counted { within, around })
}

/// The limit is one of the whole process.
#[test]
#[ignore = "slow: 10 runs"]
fn healthy_programs_under_a_cpu_limit_are_not_accused() {
    alone(under_a_cpu_limit);
}

fn under_a_cpu_limit() {
    let quota = match Quota::of(MILLIS) {
        Ok(quota) => quota,
        Err(why) => return not_allowed("healthy programs under a CPU limit", &why),
    };
    let (mut told, mut counted) = (Stopped::default(), Stopped::default());
    let (mut run_delay_ns, mut recorded_ns) = (0, 0);
    let mut accused = Vec::new();
    for _ in 0..RUNS {
        let (report, seen) = run(&quota);
        let machine = report.machine;
        println!("{report}\n{machine:?}\n{seen:?}\n");
        if !report.culprits.is_empty() || !matches!(report.verdict, Verdict::Healthy { .. }) {
            accused.push(report.to_string());
        }
        let limit = machine.limit.expect("it has one");
        assert_eq!(limit.millis, MILLIS);
        // What is told was read in between.
        assert!((seen.within.stops..=seen.around.stops).contains(&limit.stops), "{report}");
        assert!((seen.within.ns..=seen.around.ns).contains(&limit.stopped_ns), "{report}");
        if limit.stopped_ns > report.recorded_ns / 50 {
            let said = "The container's limit of 0.2 processors stopped the program";
            assert!(report.to_string().contains(said), "{report}");
        }
        told.add(Stopped { stops: limit.stops, ns: limit.stopped_ns });
        counted.add(seen.around);
        run_delay_ns += machine.run_delay_ns;
        recorded_ns += report.recorded_ns;
    }
    println!("{told:?} of {counted:?}; run delay {run_delay_ns} ns");
    println!("{} of {RUNS} runs accuse someone", accused.len());
    assert!(told.stops > 0, "the program needs more than its limit");
    // Any run may be stopped just between two readings, and the host of a virtual machine may do what no reading tells.
    assert!(told.stops * 2 >= counted.stops && told.ns * 2 >= counted.ns);
    assert!(accused.len() <= 1, "{}", accused.join("\n\n"));
    // A thread that is stopped waits. No thread waits for longer than is recorded: two workers, and the main thread,
    // which spawns.
    assert!(run_delay_ns > 0 && run_delay_ns <= 3 * recorded_ns);
}
