//! The verdict is right: each program here has one problem, or none, among 200 healthy tasks, and
//! the report names it by its line.
//!
//! On a busy machine any poll may be preempted for some ms, which makes it a long poll. So where a
//! program has no long poll, or just one, `long_poll` is set to what no preemption reaches; where
//! it has many, the default is used.
//!
//! Figures are those of planted timelines. Of a real run names, order and counts are asserted, and lengths only where the
//! program can't take less.
#![cfg(tokio_unstable)]

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use tests::planted::{self, verdicts};
use tokio::runtime::Builder;
use tokio::sync::{Barrier, mpsc};
use tokio::task::{JoinSet, block_in_place, yield_now};
use tokio_statemap::report::{Culprit, LocationRow, Place, Report, Verdict};
use tokio_statemap::{CollectorConfig, register_hooks};

/// Longer than any preemption, and shorter than [`LONG`].
const NO_NOISE: Duration = Duration::from_millis(100);
/// A poll that is longer than [`NO_NOISE`] on any machine.
const LONG: Duration = Duration::from_millis(150);
/// Where no poll is to be called long.
const NEVER: Duration = Duration::from_secs(3600);
/// It only keeps a test from hanging.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flavor {
    CurrentThread,
    TwoWorkers,
}

const BOTH: [Flavor; 2] = [Flavor::CurrentThread, Flavor::TwoWorkers];

/// What the healthy tasks did.
#[derive(Default)]
struct Rounds {
    done: AtomicU64,
    /// The threads that they did it on.
    threads: Mutex<HashSet<ThreadId>>,
}

impl Rounds {
    fn one_more(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.threads.lock().unwrap().insert(std::thread::current().id());
    }

    /// Waits until so many were done since they began.
    async fn wait_for(&self, rounds: u64) {
        while self.done.load(Ordering::Relaxed) < rounds {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Blocks until some were done on so many threads, from now on.
    fn block_until_on(&self, threads: usize) {
        self.threads.lock().unwrap().clear();
        let since = Instant::now();
        while self.threads.lock().unwrap().len() < threads {
            assert!(since.elapsed() < PATIENCE, "they don't go on");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Records `program` among 200 healthy tasks, and prints the report, to be shown if a test fails.
fn report_of<F>(flavor: Flavor, long_poll: Duration, program: F) -> Report
where
    F: Future<Output = ()>,
{
    report_among(flavor, long_poll, |_| program)
}

/// The report of the first run of `program` of which the verdict is about long polls, each of which was seen.
///
/// On a machine that is busy enough nobody sees what a poll does: runs from which the machine took time may miss them, and
/// two others.
fn long_polls_of<F>(flavor: Flavor, long_poll: Duration, program: impl Fn() -> F) -> Report
where
    F: Future<Output = ()>,
{
    const RUNS: usize = 20;
    let mut missed = 0;
    for run in 1..RUNS {
        let report = report_of(flavor, long_poll, program());
        let names_some =
            |culprit: &Culprit| culprit.place.location.is_some_and(|l| l.file == file!());
        assert!(report.culprits.iter().all(names_some), "{report}");
        if let Verdict::LongPolls { row, culprit, .. } = &report.verdict {
            // A shorter one may be over before it is seen.
            let is_each = culprit.location_polls == row.long_polls && culprit.other_places == 0
                || culprit.other_places == 2;
            if is_each {
                println!("named in run {run}, after {missed} runs that missed them");
                return report;
            }
        }
        let is_disturbed =
            report.machine.run_delay_ns > report.recorded_ns / 50 || report.excused.polls > 0;
        missed += usize::from(!is_disturbed);
        assert!(missed <= 2, "the machine took nothing, and they are missed\n{report}");
    }
    report_of(flavor, long_poll, program())
}

/// The same of a program that looks at what the healthy tasks do.
fn report_among<F>(
    flavor: Flavor,
    long_poll: Duration,
    program: impl FnOnce(Arc<Rounds>) -> F,
) -> Report
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
        program(healthy()).await;
        collector.stop();
    });
    let report = collector.snapshot().report();
    println!("{flavor:?}\n{report}\n");
    assert_eq!(report.lost.total(), 0);
    report
}

/// Spawns 200 tasks that are short and wait, for as long as the runtime lives.
fn healthy() -> Arc<Rounds> {
    let rounds = Arc::new(Rounds::default());
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
        let rounds = Arc::clone(&rounds);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(20 + i % 11)).await;
                yield_now().await;
                rounds.one_more();
            }
        });
    }
    rounds
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
        let report = long_polls_of(flavor, Duration::from_millis(1), || async {
            let blocks = tokio::spawn(async {
                // The last one is harm by itself, whoever else waits: that is a hundred times what is long.
                for length in [20, 20, 20, 120] {
                    std::thread::sleep(Duration::from_millis(length));
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            });
            blocks.await.unwrap();
        });
        assert_long_polls(&report, line, 4);
        let did_harm =
            |verdict: &Verdict| matches!(verdict, Verdict::LongPolls { did_harm: true, .. });
        assert!(did_harm(&report.verdict), "{}", report.verdict);
    }
}

#[test]
fn a_location_that_computes_for_25_ms() {
    for flavor in BOTH {
        let line = line!() + 4;
        let report = long_polls_of(flavor, Duration::from_millis(1), || async {
            let mut set = JoinSet::new();
            for _ in 0..6 {
                set.spawn(async {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    compute(Duration::from_millis(25));
                });
            }
            while set.join_next().await.is_some() {}
        });
        assert_long_polls(&report, line, 6);
    }
}

#[test]
fn one_long_poll_of_many_short_ones() {
    for flavor in BOTH {
        let line = line!() + 2;
        let report = long_polls_of(flavor, NO_NOISE, || async {
            let blocks = tokio::spawn(async {
                for i in 0..20 {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    if i == 12 {
                        compute(LONG);
                    }
                }
            });
            blocks.await.unwrap();
        });
        assert_long_polls(&report, line, 1);
        assert!(report.verdict.to_string().contains(" over 100 ms"), "{}", report.verdict);
    }
}

/// A task woken by a task that then blocks is ready meanwhile.
#[test]
fn waiting_tasks_are_counted() {
    let line = line!() + 9;
    let report = long_polls_of(Flavor::CurrentThread, NO_NOISE, || async {
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
    assert!(report.verdict.to_string().contains(" Meanwhile other tasks waited "));
}

#[test]
fn a_long_poll_has_the_figures_that_were_planted() {
    let report = verdicts::woken_then_blocked().report();
    let Verdict::LongPolls { culprit, row, did_harm, .. } = &report.verdict else {
        panic!("{report}")
    };
    assert_eq!(row.place.location, Some(planted::BLOCKS), "{report}");
    assert_eq!((row.polls, row.long_polls, *did_harm), (1, 1, true), "{report}");
    assert_eq!(row.longest_ns, verdicts::BLOCKS_FOR_NS, "{report}");
    let all_the_time = verdicts::WAITING * verdicts::BLOCKS_FOR_NS;
    assert_eq!(culprit.delay.waited_ns, Some(all_the_time), "{culprit:?}");
    assert_eq!(report.recorded_ns, 1_000_000_000);
    let text = report.verdict.to_string();
    assert!(text.contains(" took 150 ms, on worker-0 at 0.100 s"), "{text}");
    assert!(text.contains(" Meanwhile other tasks waited 4.50 s for a worker, in sum."), "{text}");
}

/// The longest poll is that by its own time, here as in the pages that are made of it (`tests/command/story.rs`).
#[test]
fn the_longest_poll_is_the_longest_without_what_the_machine_took() {
    let report = verdicts::partly_taken().report();
    let text = report.to_string();
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("The longest took 15.2 ms (wall time 17.0 ms), on worker-0 at 0.370 s"),
        "{text}"
    );
    let lengths: Vec<_> =
        report.longest_polls.iter().take(3).map(|poll| (poll.own_ns, poll.length_ns)).collect();
    let (_, own_ns, wall_ns) = verdicts::LONGEST;
    let (_, taken_own_ns, taken_wall_ns) = verdicts::MOSTLY_TAKEN;
    assert_eq!(lengths[..2], [(own_ns, wall_ns), (taken_own_ns, taken_wall_ns)], "{text}");
    let Verdict::LongPolls { culprit, .. } = &report.verdict else { panic!("{text}") };
    assert_eq!(culprit.longest, report.longest_polls[0], "{text}");
    assert_eq!((culprit.polls, culprit.location_polls), (12, 12), "{text}");
}

#[test]
fn workers_that_are_saturated_have_the_figures_that_were_planted() {
    // Few tasks that take all of the time: nobody else could.
    let report = verdicts::saturated(8, 50, 500_000).report();
    let Verdict::Busy { row, busy_share, taken_share, .. } = &report.verdict else {
        panic!("{report}")
    };
    assert_eq!((row.tasks, row.polls, row.held_ns), (8, 400, 200_000_000), "{report}");
    assert_eq!((*busy_share, *taken_share), (1.0, 1.0), "{report}");

    // Many that are alike: they are too many.
    let report = verdicts::saturated(400, 3, 400_000).report();
    let Verdict::TooFewWorkers { workers, ready_tasks, row, busy_share, .. } = &report.verdict
    else {
        panic!("{report}")
    };
    assert_eq!((*workers, row.tasks, *busy_share), (2, 400, 1.0), "{report}");
    assert_eq!(report.recorded_ns, 240_000_000);
    // Each task is ready from its spawn to its end, but for its three polls. They end in pairs.
    let ready_ns: u64 =
        (1..=200).map(|pair| 2 * (160_000_000 + pair * 400_000 - 3 * 400_000)).sum();
    let planted = ready_ns as f64 / 240_000_000.0;
    assert!((ready_tasks - planted).abs() < 0.01, "{ready_tasks} of {planted}");
}

#[test]
fn main_off_the_workers_has_the_figures_that_were_planted() {
    let report = planted::nearly().report();
    assert!(matches!(report.verdict, Verdict::Healthy { .. }), "{report}");
    let main = report.locations.iter().find(|row| row.place.is_root).expect("it is listed");
    assert_eq!((main.held_ns, main.long_polls, main.off_worker_ns), (0, 0, 49_000_000));
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
                    compute(Duration::from_micros(100));
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
    assert!(
        ready_tasks >= &2.0 && report.to_string().starts_with("Too few workers for the load: ")
    );
}

#[test]
fn tasks_that_only_yield() {
    for flavor in BOTH {
        let line = line!() + 7;
        let report = report_of(flavor, NEVER, async {
            // They end together, so that no worker is left without one.
            let yields = Arc::new(AtomicU64::new(0));
            let mut set = JoinSet::new();
            for _ in 0..8 {
                let yields = Arc::clone(&yields);
                set.spawn(async move {
                    while yields.fetch_add(1, Ordering::Relaxed) < 100_000 {
                        yield_now().await;
                    }
                });
            }
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
    assert!(taken_share <= busy_share, "{:?}", report.verdict);
    row.tasks
}

#[test]
fn a_healthy_program_has_no_verdict() {
    for flavor in BOTH {
        assert_healthy(&report_among(flavor, NO_NOISE, |rounds| async move {
            rounds.wait_for(500).await;
        }));
    }
}

/// The same with the defaults. Other programs may preempt a poll for over 1 ms in some runs, but
/// not in every run: a wrong verdict would appear in each.
#[test]
fn a_healthy_program_has_no_verdict_by_default_either() {
    const RUNS: usize = 100;
    for run in 1..=RUNS {
        let long_poll = CollectorConfig::default().long_poll;
        let report = report_among(Flavor::TwoWorkers, long_poll, |rounds| async move {
            rounds.wait_for(100).await;
        });
        if matches!(report.verdict, Verdict::Healthy { .. }) {
            println!("1 of {run} runs has no verdict");
            return assert_healthy(&report);
        }
    }
    panic!("each of {RUNS} runs has one");
}

/// `block_in_place` moves the worker to another thread first.
#[test]
fn a_task_in_block_in_place_is_not_named() {
    let report = report_among(Flavor::TwoWorkers, NO_NOISE, |rounds| async move {
        for _ in 0..2 {
            let rounds = Arc::clone(&rounds);
            let blocks = tokio::spawn(async move {
                block_in_place(|| {
                    // The worker is only known to have moved from its first hook on the other thread on.
                    rounds.block_until_on(2);
                    std::thread::sleep(LONG);
                });
            });
            blocks.await.unwrap();
        }
    });
    assert_healthy(&report);
    assert!(report.handovers >= 2, "{}", report.handovers);
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
    assert!(main.off_worker_ns > 0, "{main:?}");

    let report = run(Flavor::CurrentThread);
    let Verdict::LongPolls { row, .. } = &report.verdict else { panic!("{:?}", report.verdict) };
    assert!(row.place.is_root);
    assert!(row.long_polls >= 2, "{row:?}");
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
        let lines = [line!() + 2, line!() + 3, line!() + 4];
        let report = long_polls_of(flavor, BLOCK / 2, || async {
            let twice = tokio::spawn(culprit(2));
            let most = tokio::spawn(culprit(8));
            let others = tokio::spawn(culprit(4));
            for one in [twice, most, others] {
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
            assert!((3..=14).contains(&culprit.polls) && culprit.other_places == 2, "{report}");
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

/// How long a [`culprit`] blocks.
const BLOCK: Duration = Duration::from_millis(30);

/// Blocks `n` times.
async fn culprit(n: usize) {
    for _ in 0..n {
        tokio::time::sleep(Duration::from_millis(5)).await;
        std::thread::sleep(BLOCK);
    }
}
