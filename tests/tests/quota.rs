//! Nobody is accused of what a container's CPU limit does, and the report says what it did.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::time::Duration;

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

/// The report of a healthy program of 300 ms under the limit, and what the kernel counted meanwhile.
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
        tokio::time::sleep(Duration::from_millis(300)).await;
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

#[test]
fn healthy_programs_under_a_cpu_limit_are_not_accused() {
    let quota = match Quota::of(MILLIS) {
        Ok(quota) => quota,
        Err(why) => return not_allowed("healthy programs under a CPU limit", &why),
    };
    let (mut told, mut counted) = (Stopped::default(), Stopped::default());
    let (mut run_delay_ns, mut recorded_ns) = (0, 0);
    for _ in 0..20 {
        let (report, seen) = run(&quota);
        let machine = report.machine;
        println!("{report}\n{machine:?}\n{seen:?}\n");
        assert!(report.culprits.is_empty(), "{report}");
        assert!(matches!(report.verdict, Verdict::Healthy { .. }), "{report}");
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
    // Any one of the 20 may be stopped just between two readings.
    println!("{told:?} of {counted:?}; run delay {run_delay_ns} ns");
    assert!(told.stops > 0, "the program needs more than its limit");
    assert!(told.stops * 10 >= counted.stops * 9 && told.ns * 10 >= counted.ns * 9);
    // The kernel counts a stop of each processor where a thread waits. Nearly always that is one of the
    // two workers, or both; the others are the main thread, which spawns, and the watcher's. And no thread
    // waits for longer than is recorded.
    assert!(run_delay_ns >= told.ns / 2 && run_delay_ns <= 3 * recorded_ns);
}
