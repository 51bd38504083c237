//! The verdict is right: each program here has one problem, or none, among 200 healthy tasks, and
//! the report names it by its line.
//!
//! On a busy machine any poll may be preempted for some ms, which makes it a long poll. So where a
//! program has no long poll, or just one, `long_poll` is set to what no preemption reaches; where
//! it has many, the default is used.
#![cfg(tokio_unstable)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::sync::{Barrier, mpsc};
use tokio::task::{JoinSet, block_in_place, yield_now};
use tokio_statemap::report::{LocationRow, Place, Report, Verdict};
use tokio_statemap::{CollectorConfig, register_hooks};

/// Longer than any preemption, and shorter than [`LONG`].
const NO_NOISE: Duration = Duration::from_millis(100);
/// A poll that is longer than [`NO_NOISE`] on any machine.
const LONG: Duration = Duration::from_millis(150);
/// Where no poll is to be called long.
const NEVER: Duration = Duration::from_secs(3600);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flavor {
    CurrentThread,
    TwoWorkers,
}

const BOTH: [Flavor; 2] = [Flavor::CurrentThread, Flavor::TwoWorkers];

/// Records `program` among 200 healthy tasks, and prints the report, to be shown if a test fails.
fn report_of<F>(flavor: Flavor, long_poll: Duration, program: F) -> Report
where
    F: Future<Output = ()>,
{
    let mut builder = match flavor {
        Flavor::CurrentThread => Builder::new_current_thread(),
        Flavor::TwoWorkers => Builder::new_multi_thread(),
    };
    if flavor == Flavor::TwoWorkers {
        builder.worker_threads(2);
    }
    let config = CollectorConfig { long_poll, ..CollectorConfig::default() };
    let collector = register_hooks(builder.enable_all(), config).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    collector.block_on(&runtime, async {
        healthy();
        program.await;
        collector.stop();
    });
    let report = collector.snapshot().report();
    println!("{flavor:?}\n{report}\n");
    assert_eq!(report.lost.total(), 0);
    report
}

/// Spawns 200 tasks that are short and wait, for as long as the runtime lives.
fn healthy() {
    for i in 0..50 {
        let (to, mut from) = mpsc::channel(4);
        tokio::spawn(async move {
            for n in 0_u64.. {
                tokio::time::sleep(Duration::from_millis(10 + i % 7)).await;
                if to.send(n).await.is_err() {
                    return;
                }
            }
        });
        tokio::spawn(async move { while from.recv().await.is_some() {} });
    }
    for i in 0..100 {
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(20 + i % 11)).await;
                yield_now().await;
            }
        });
    }
}

/// Computes for `time`, without sleeping: for that long on a processor, where that can be told, as nobody is
/// accused of what the machine takes.
fn compute(time: Duration) {
    let (begin, cpu_before) = (Instant::now(), cpu_time());
    let computed = || match (cpu_before, cpu_time()) {
        (Some(before), Some(now)) => now - before,
        _ => begin.elapsed(),
    };
    while computed() < time {
        std::hint::spin_loop();
    }
}

/// How long this thread was on a processor.
#[cfg(target_os = "linux")]
fn cpu_time() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it fills `time` in.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    (failed == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

#[cfg(not(target_os = "linux"))]
fn cpu_time() -> Option<Duration> {
    None
}

/// The verdict is about long polls of the tasks spawned in `line`, in data and in words.
fn assert_long_polls(report: &Report, line: u32, long_polls: u64) {
    let Verdict::LongPolls { culprit, row, did_harm, .. } = &report.verdict else {
        panic!("{:?}", report.verdict);
    };
    assert_names(report, &row.place, line);
    assert!(row.long_polls >= long_polls, "{row:?}");
    assert_eq!(culprit.place, row.place);
    let begin = if *did_harm { " held the runtime up: " } else { "Little was held up: " };
    assert!(report.verdict.to_string().contains(begin), "{}", report.verdict);
}

/// The report begins with this file's `line`.
fn assert_names(report: &Report, place: &Place, line: u32) {
    let location = place.location.expect("locations are recorded");
    assert_eq!((location.file, location.line), (file!(), line));
    let text = report.to_string();
    let named = format!("{}:{line}:{}", file!(), location.column);
    assert!(report.verdict.to_string().contains(&named), "{}", report.verdict);
    assert!(text.lines().take(4).collect::<Vec<_>>().join(" ").contains(&named), "{text}");
}

fn assert_healthy(report: &Report) {
    assert!(matches!(report.verdict, Verdict::Healthy { .. }), "{:?}", report.verdict);
    assert!(report.to_string().starts_with("Nothing held the runtime up: "));
    assert!(!report.verdict.to_string().contains(file!()), "{}", report.verdict);
}

#[test]
fn a_location_that_blocks_in_a_sleep() {
    for flavor in BOTH {
        let line = line!() + 2;
        let report = report_of(flavor, Duration::from_millis(1), async {
            let blocks = tokio::spawn(async {
                for _ in 0..10 {
                    std::thread::sleep(Duration::from_millis(30));
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            });
            blocks.await.unwrap();
        });
        assert_long_polls(&report, line, 10);
        let did_harm =
            |verdict: &Verdict| matches!(verdict, Verdict::LongPolls { did_harm: true, .. });
        assert!(did_harm(&report.verdict), "{}", report.verdict);
    }
}

#[test]
fn a_location_that_computes_for_25_ms() {
    for flavor in BOTH {
        let line = line!() + 4;
        let report = report_of(flavor, Duration::from_millis(1), async {
            let mut set = JoinSet::new();
            for _ in 0..12 {
                set.spawn(async {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    compute(Duration::from_millis(25));
                });
            }
            while set.join_next().await.is_some() {}
        });
        assert_long_polls(&report, line, 12);
    }
}

#[test]
fn one_long_poll_in_a_second() {
    for flavor in BOTH {
        let line = line!() + 2;
        let report = report_of(flavor, NO_NOISE, async {
            let blocks = tokio::spawn(async {
                for i in 0..50 {
                    tokio::time::sleep(Duration::from_millis(17)).await;
                    if i == 30 {
                        compute(LONG);
                    }
                }
            });
            blocks.await.unwrap();
        });
        assert_long_polls(&report, line, 1);
        assert!(report.recorded_ns > 900_000_000, "{}", report.recorded_ns);
        assert!(report.verdict.to_string().contains(" over 100 ms"), "{}", report.verdict);
    }
}

/// A task woken by a task that then blocks is ready meanwhile.
#[test]
fn waiting_tasks_are_counted() {
    let line = line!() + 9;
    let report = report_of(Flavor::CurrentThread, NO_NOISE, async {
        let barrier = Arc::new(Barrier::new(31));
        let mut set = JoinSet::new();
        for _ in 0..30 {
            let barrier = Arc::clone(&barrier);
            set.spawn(async move { barrier.wait().await.is_leader() });
        }
        yield_now().await;
        set.spawn(async move {
            barrier.wait().await;
            compute(LONG);
            true
        });
        while set.join_next().await.is_some() {}
    });
    assert_long_polls(&report, line, 1);
    let Verdict::LongPolls { culprit, .. } = &report.verdict else { unreachable!() };
    let all_the_time = 30 * u64::try_from(LONG.as_nanos()).unwrap();
    assert!(culprit.delay.waited_ns >= Some(all_the_time / 10 * 9), "{culprit:?}");
    assert!(report.verdict.to_string().contains(" Meanwhile other tasks waited "));
}

/// No poll is long and nobody stands out, but the workers are saturated.
#[test]
fn many_short_polls_that_saturate_the_workers() {
    let line = line!() + 4;
    let report = report_of(Flavor::TwoWorkers, NEVER, async {
        let mut set = JoinSet::new();
        for _ in 0..400 {
            set.spawn(async {
                for _ in 0..3 {
                    compute(Duration::from_micros(400));
                    yield_now().await;
                }
            });
        }
        while set.join_next().await.is_some() {}
    });
    let Verdict::TooFewWorkers { workers, ready_tasks, row, .. } = &report.verdict else {
        panic!("{:?}", report.verdict);
    };
    assert_names(&report, &row.place, line);
    assert_eq!((*workers, row.tasks), (2, 400));
    assert!(*ready_tasks > 2.0 && report.to_string().starts_with("Too few workers for the load: "));
}

#[test]
fn tasks_that_only_yield() {
    for flavor in BOTH {
        let line = line!() + 6;
        let report = report_of(flavor, NEVER, async {
            let is_over = Arc::new(AtomicBool::new(false));
            let mut set = JoinSet::new();
            for _ in 0..8 {
                let is_over = Arc::clone(&is_over);
                set.spawn(async move {
                    while !is_over.load(Ordering::Relaxed) {
                        yield_now().await;
                    }
                });
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
            is_over.store(true, Ordering::Relaxed);
            while set.join_next().await.is_some() {}
        });
        let tasks = assert_busy(&report, line);
        assert_eq!(tasks, 8);
    }
}

/// The verdict is that the workers were busy with the tasks spawned in `line`: returns how many
/// there are.
fn assert_busy(report: &Report, line: u32) -> u64 {
    let Verdict::Busy { row, busy_share, taken_share, .. } = &report.verdict else {
        panic!("{:?}", report.verdict);
    };
    assert_names(report, &row.place, line);
    assert!(*busy_share > 0.9 && taken_share <= busy_share, "{:?}", report.verdict);
    row.tasks
}

#[test]
fn a_healthy_program_has_no_verdict() {
    for flavor in BOTH {
        assert_healthy(&report_of(flavor, NO_NOISE, async {
            tokio::time::sleep(Duration::from_millis(300)).await;
        }));
    }
}

/// The same with the defaults. Other programs may preempt a poll for over 1 ms in some runs, but
/// not in every run: a wrong verdict would appear in each.
#[test]
fn a_healthy_program_has_no_verdict_by_default_either() {
    let runs = || {
        report_of(Flavor::TwoWorkers, CollectorConfig::default().long_poll, async {
            tokio::time::sleep(Duration::from_millis(30)).await;
        })
    };
    let healthy = std::iter::repeat_with(runs)
        .take(100)
        .find(|report| matches!(report.verdict, Verdict::Healthy { .. }));
    assert_healthy(&healthy.expect("one of 100 runs is not interrupted"));
}

/// `block_in_place` moves the worker to another thread first.
#[test]
fn a_task_in_block_in_place_is_not_named() {
    // The worker is only known to have moved from its first hook on the other thread on, which may
    // take some time to start: hence more than 30 ms.
    let report = report_of(Flavor::TwoWorkers, NO_NOISE, async {
        for _ in 0..3 {
            let blocks = tokio::spawn(async {
                block_in_place(|| std::thread::sleep(LONG * 2));
            });
            blocks.await.unwrap();
        }
    });
    assert_healthy(&report);
    assert!(report.handovers >= 3, "{}", report.handovers);
}

#[test]
fn main_is_named_only_where_it_holds_a_worker() {
    let run = |flavor| {
        report_of(flavor, NO_NOISE, async {
            for _ in 0..2 {
                std::thread::sleep(LONG);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
    };
    let report = run(Flavor::TwoWorkers);
    assert_healthy(&report);
    let main = report.locations.iter().find(|row| row.place.is_root).expect("it is listed");
    assert_eq!((main.held_ns, main.long_polls), (0, 0));
    assert!(main.off_worker_ns >= 2 * LONG.as_nanos() as u64, "{main:?}");

    let report = run(Flavor::CurrentThread);
    let Verdict::LongPolls { row, .. } = &report.verdict else { panic!("{:?}", report.verdict) };
    assert!(row.place.is_root);
    assert_eq!(row.long_polls, 2);
    let text = report.to_string();
    let location = row.place.location.unwrap();
    let text = text.replace('\n', " ");
    assert!(text.contains(" held the runtime up: "), "{text}");
    assert!(text.contains(&format!("{location} (main)")), "{text}");
}

/// They are one, as all block at one line of one function; it is said where most of them were spawned.
#[test]
fn those_who_block_at_one_line_are_one() {
    for flavor in BOTH {
        let lines = [line!() + 3, line!() + 4, line!() + 5];
        let report = report_of(flavor, NO_NOISE, async {
            let all = [
                tokio::spawn(culprit(1, LONG * 3)),
                tokio::spawn(culprit(3, LONG * 2)),
                tokio::spawn(culprit(5, LONG)),
            ];
            for one in all {
                one.await.unwrap();
            }
        });
        let Verdict::LongPolls { culprit, .. } = &report.verdict else { panic!("{report}") };
        let place = culprit.place.location.expect("locations are recorded");
        assert!(lines.contains(&place.line), "{report}");
        // Where stacks can't be had, the spawn location is all there is.
        if cfg!(target_os = "linux") {
            let frame = culprit.frame.as_ref().expect("it is known");
            assert!(frame.function.contains("verdict::culprit"), "{frame:?}");
            // Of a machine that is busy enough, one or the other may be the machine's.
            assert!((6..=9).contains(&culprit.polls) && culprit.other_places == 2, "{report}");
            let slept = "blocked in std::thread::";
            assert!(culprit.act.starts_with(slept), "{}", culprit.act);
        }
        let held: Vec<_> = lines
            .iter()
            .map(|&line| {
                let at = |row: &&LocationRow| row.place.location.is_some_and(|l| l.line == line);
                report.locations.iter().find(at).expect("all are listed").held_ns
            })
            .collect();
        assert!(held[1] > held[2] && held[2] > held[0], "{held:?}");
    }
}

/// Blocks `n` times for `length`.
async fn culprit(n: usize, length: Duration) {
    for _ in 0..n {
        tokio::time::sleep(Duration::from_millis(10)).await;
        std::thread::sleep(length);
    }
}
