//! Healthy tasks aren't blamed for a container's CPU limit, and the report says what the limit did.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::time::Duration;

use tests::alone::alone;
use tests::left_out::not_allowed;
use tests::load::healthy;
use tests::quota::{Quota, Stopped};
use tests::runtime::{builder, recorded};
use tokio::task::JoinSet;
use tokio_statemap::CollectorConfig;
use tokio_statemap::report::{Report, Verdict};

/// A fifth of a processor.
const MILLIS: u64 = 200;

/// The kernel's counts between two readings just within the recording, and two just around it.
#[derive(Debug)]
struct Counted {
    within: Stopped,
    around: Stopped,
}

/// The number of runs over which a rate is counted.
const RUNS: usize = 10;

/// The most runs: beside other programs the limit may not be reached for some time.
const MOST_RUNS: usize = 100;

/// Runs a healthy program under the limit, for at least two of its periods. Returns the report and the kernel's counts.
fn run(quota: &Quota) -> (Report, Counted) {
    let since = |before: Stopped| quota.stopped().since(before);
    let before_start = quota.stopped();
    let (collector, runtime) = recorded(builder(2), CollectorConfig::default());
    let after_start = quota.stopped();
    let within = runtime.block_on(async {
        let mut tasks = JoinSet::new();
        healthy(&mut tasks);
        tokio::time::sleep(Duration::from_millis(200)).await;
        since(after_start)
    });
    collector.stop();
    let around = since(before_start);
    let timeline = collector.snapshot();
    // These would explain a report that blames a task.
    for poll in timeline.tasks.iter().flat_map(|task| &task.polls) {
        if timeline.held_ns(poll) > 1_000_000 {
            println!("{poll:?}: {:?}, {:?}", timeline.cause(poll), timeline.samples(poll));
        }
    }
    (timeline.report(), Counted { within, around })
}

/// The limit applies to the whole process.
#[test]
#[ignore = "slow: 10 runs"]
fn healthy_programs_under_a_cpu_limit_are_not_blamed() {
    alone(under_a_cpu_limit);
}

fn under_a_cpu_limit() {
    let quota = match Quota::enter(MILLIS) {
        Ok(quota) => quota,
        Err(why) => return not_allowed("healthy programs under a CPU limit", &why),
    };
    let (mut reported, mut counted) = (Stopped::default(), Stopped::default());
    let (mut run_delay_ns, mut recorded_ns) = (0, 0);
    let mut blaming = Vec::new();
    let mut runs = 0;
    while runs < RUNS || counted.stops == 0 && runs < MOST_RUNS {
        runs += 1;
        let (report, seen) = run(&quota);
        let machine = report.machine;
        println!("{report}\n{machine:?}\n{seen:?}\n");
        if !report.blame.culprits.is_empty() || !matches!(report.verdict, Verdict::Healthy { .. }) {
            blaming.push(report.to_string());
        }
        let limit = machine.limit.expect("it has one");
        assert_eq!(limit.millis, MILLIS);
        // The recorder's readings lie between those of the test.
        assert!((seen.within.stops..=seen.around.stops).contains(&limit.stops), "{report}");
        assert!((seen.within.ns..=seen.around.ns).contains(&limit.stopped_ns), "{report}");
        if limit.stopped_ns > report.recording.recorded_ns / 50 {
            let said = "The container's limit of 0.2 processors stopped the program";
            assert!(report.to_string().contains(said), "{report}");
        }
        reported.add(Stopped { stops: limit.stops, ns: limit.stopped_ns });
        counted.add(seen.around);
        run_delay_ns += machine.run_delay_ns;
        recorded_ns += report.recording.recorded_ns;
    }
    println!("{reported:?} of {counted:?}; run delay {run_delay_ns} ns");
    println!("{} of {runs} runs blame a task", blaming.len());
    assert!(reported.stops > 0, "the program needs more than its limit");
    // A run may be stopped just between two readings, and no reading shows what the host of a virtual machine does.
    assert!(reported.stops * 2 >= counted.stops && reported.ns * 2 >= counted.ns);
    assert!(RUNS * blaming.len() <= runs, "{}", blaming.join("\n\n"));
    // Stopped threads count as ready to run. There are three, two workers and the main thread, and none can wait for longer
    // than the recording.
    assert!(run_delay_ns > 0 && run_delay_ns <= 3 * recorded_ns);
}
