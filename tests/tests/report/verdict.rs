//! Each program here has one problem, or none, among 200 healthy tasks, and the report names it by its line.
//!
//! On a busy machine any poll may be preempted for some ms, which makes it a long poll. For programs with no long poll, or
//! only one, `long_poll` is set to a length that no preemption reaches; others use the default.
//!
//! Figures are asserted on planted timelines. Tests of real runs assert names, order and counts, and lengths only if the
//! program can't take less time.
#![cfg(tokio_unstable)]

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use tests::first_issue::{busy_workers, long_polls};
use tests::planted::{self, verdicts};
use tests::runtime::{builder, recorded};
use tokio::sync::{Barrier, mpsc};
use tokio::task::{JoinSet, block_in_place, yield_now};
use tokio_statemap::CollectorConfig;
use tokio_statemap::report::{Culprit, LocationRow, Place, Report, Verdict};

/// A time longer than any preemption, and shorter than [`LONG`].
const NO_NOISE: Duration = Duration::from_millis(100);
/// The length of a poll that is certainly longer than [`NO_NOISE`] by its own doing, on any machine: a twentieth of the wall time, which
/// is many times as long beside other programs, may be an error.
const LONG: Duration = Duration::from_millis(400);
/// The value of `long_poll` by which no poll is long.
const NEVER: Duration = Duration::from_secs(3600);
/// The time after which a test fails that would hang.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flavor {
    CurrentThread,
    TwoWorkers,
}

const BOTH: [Flavor; 2] = [Flavor::CurrentThread, Flavor::TwoWorkers];

/// The rounds of the healthy tasks.
#[derive(Default)]
struct Rounds {
    done: AtomicU64,
    /// The threads on which they ran.
    threads: Mutex<HashSet<ThreadId>>,
}

impl Rounds {
    fn one_more(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.threads.lock().unwrap().insert(std::thread::current().id());
    }

    /// Waits until `rounds` rounds were done in total.
    async fn wait_for(&self, rounds: u64) {
        while self.done.load(Ordering::Relaxed) < rounds {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Blocks until rounds were done on `threads` threads from now on.
    fn block_until_on(&self, threads: usize) {
        self.threads.lock().unwrap().clear();
        let since = Instant::now();
        while self.threads.lock().unwrap().len() < threads {
            assert!(since.elapsed() < PATIENCE, "they don't go on");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Records `program` among 200 healthy tasks, and prints and returns the report.
fn report_of<F>(flavor: Flavor, long_poll: Duration, program: F) -> Report
where
    F: Future<Output = ()>,
{
    report_among(flavor, long_poll, |_| program)
}

/// Returns the report of the first run of `program` whose verdict is about long polls, all of which were sampled.
///
/// On a very busy machine the recorder can't sample a poll. Runs from which the machine took time may miss polls, and at most
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
        assert!(report.blame.culprits.iter().all(names_some), "{report}");
        if let Some((culprit, polls)) = long_polls(&report) {
            // A short poll may be over before it is sampled.
            let is_each = culprit.location_polls == polls.row.long_polls
                && culprit.other_places == 0
                || culprit.other_places == 2;
            if is_each {
                println!("named in run {run}, after {missed} runs that missed polls");
                return report;
            }
        }
        let is_disturbed = report.machine.run_delay_ns > report.recording.recorded_ns / 50
            || report.blame.unattributed.polls > 0;
        missed += usize::from(!is_disturbed);
        assert!(missed <= 2, "polls are missed, though the machine took nothing\n{report}");
    }
    report_of(flavor, long_poll, program())
}

/// Does the same for a program that observes the healthy tasks.
fn report_among<F>(
    flavor: Flavor,
    long_poll: Duration,
    program: impl FnOnce(Arc<Rounds>) -> F,
) -> Report
where
    F: Future<Output = ()>,
{
    let workers = if flavor == Flavor::CurrentThread { 0 } else { 2 };
    let config = CollectorConfig { long_poll, ..CollectorConfig::default() };
    let (collector, runtime) = recorded(builder(workers), config);
    collector.block_on(&runtime, async {
        program(healthy()).await;
        collector.stop();
    });
    let report = collector.snapshot().report();
    println!("{flavor:?}\n{report}\n");
    assert_eq!(report.recording.lost.total(), 0);
    report
}

/// Spawns 200 tasks with short polls, which live as long as the runtime.
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

/// Computes for `time` of CPU time, or of wall time where CPU time can't be read. Time that the machine takes would not be
/// attributed to the task.
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

/// Returns the CPU time of this thread.
#[cfg(target_os = "linux")]
fn cpu_time() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: The call fills `time` in.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    (failed == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

#[cfg(not(target_os = "linux"))]
fn cpu_time() -> Option<Duration> {
    None
}

/// Asserts that the verdict is about long polls of the tasks spawned in `line`, as data and as text.
fn assert_long_polls(report: &Report, line: u32, least: u64) {
    let (culprit, polls) = long_polls(report).unwrap_or_else(|| panic!("{:?}", report.verdict));
    let row = &polls.row;
    assert_names(report, &row.place, line);
    assert!(row.long_polls >= least, "{row:?}");
    assert_eq!(culprit.place, row.place);
    let begin = if polls.did_harm { " held the runtime up: " } else { "Little was held up: " };
    assert!(report.verdict.to_string().contains(begin), "{}", report.verdict);
}

/// Asserts that the first paragraph of the report names this file's `line`.
fn assert_names(report: &Report, place: &Place, line: u32) {
    let location = place.location.expect("locations are recorded");
    assert_eq!((location.file, location.line), (file!(), line));
    let text = report.to_string();
    let named = format!("{}:{line}:{}", file!(), location.column);
    assert!(report.verdict.to_string().contains(&named), "{}", report.verdict);
    assert!(text.split("\n\n").next().is_some_and(|first| first.contains(&named)), "{text}");
}

fn assert_healthy(report: &Report) {
    assert!(matches!(report.verdict, Verdict::Healthy { .. }), "{:?}", report.verdict);
    assert!(report.to_string().starts_with("Nothing held the runtime up: "));
    // A poll of main that holds no worker may be named as well.
    let verdict = report.verdict.to_string();
    let of_main = verdict.find("The longest poll of main ").map(|at| {
        let rest = &verdict[at..];
        let end = rest.find("a worker.").expect("the sentence ends");
        at..at + end
    });
    let mut others = verdict.clone();
    others.replace_range(of_main.unwrap_or(0..0), "");
    assert!(!others.contains(file!()), "{verdict}");
}

#[test]
fn a_location_that_blocks_in_a_sleep_is_named() {
    for flavor in BOTH {
        let line = line!() + 2;
        let report = long_polls_of(flavor, Duration::from_millis(1), || async {
            let blocks = tokio::spawn(async {
                // The last poll is harmful even if no task waits, as it is a hundred times as long as a long poll.
                for length in [20, 20, 20, 120] {
                    std::thread::sleep(Duration::from_millis(length));
                    // On a busy machine the time may have come before the sleep is polled, and the poll goes on.
                    tokio::task::yield_now().await;
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            });
            blocks.await.unwrap();
        });
        assert_long_polls(&report, line, 4);
        let did_harm = long_polls(&report).is_some_and(|(_, polls)| polls.did_harm);
        assert!(did_harm, "{}", report.verdict);
    }
}

#[test]
fn a_location_that_computes_for_25_ms_is_named() {
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
fn one_long_poll_among_many_short_ones_is_named() {
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

/// A task that is woken by a task that then blocks is ready meanwhile.
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
    let (culprit, polls) = long_polls(&report).unwrap_or_else(|| panic!("{report}"));
    let row = &polls.row;
    assert_eq!(row.place.location, Some(planted::BLOCKS), "{report}");
    assert_eq!((row.polls, row.long_polls, polls.did_harm), (1, 1, true), "{report}");
    assert_eq!(row.longest_ns, verdicts::BLOCKS_FOR_NS, "{report}");
    let all_the_time = verdicts::WAITING * verdicts::BLOCKS_FOR_NS;
    assert_eq!(culprit.delay.waited_ns, Some(all_the_time), "{culprit:?}");
    assert_eq!(report.recording.recorded_ns, 1_000_000_000);
    let text = report.verdict.to_string();
    assert!(text.contains(" took 150 ms, on worker-0 at 0.100 s"), "{text}");
    assert!(text.contains(" Meanwhile other tasks waited 4.50 s for a worker, in sum."), "{text}");
}

/// The longest poll is the one with the longest own time, as in the pages (`tests/command/story.rs`).
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
    let (culprit, _) = long_polls(&report).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(culprit.longest, report.longest_polls[0], "{text}");
    assert_eq!((culprit.polls, culprit.location_polls), (12, 12), "{text}");
}

#[test]
fn workers_that_are_saturated_have_the_figures_that_were_planted() {
    // A few tasks take all of the time, so they are to blame.
    let report = verdicts::saturated(8, 50, 500_000).report();
    let busy = busy_workers(&report).unwrap_or_else(|| panic!("{report}"));
    let row = &busy.row;
    assert_eq!((row.tasks, row.polls, row.held_ns), (8, 400, 200_000_000), "{report}");
    assert_eq!(
        (busy.busy_share, busy.taken_share, busy.are_too_few),
        (1.0, 1.0, false),
        "{report}"
    );

    // Many tasks take equal shares, so there are too few workers.
    let report = verdicts::saturated(400, 3, 400_000).report();
    let busy = busy_workers(&report).unwrap_or_else(|| panic!("{report}"));
    assert!(busy.are_too_few, "{report}");
    assert_eq!((busy.workers, busy.row.tasks, busy.busy_share), (2, 400, 1.0), "{report}");
    assert_eq!(report.recording.recorded_ns, 240_000_000);
    // Each task is ready from its spawn to its end, except in its three polls. They end in pairs.
    let ready_ns: u64 =
        (1..=200).map(|pair| 2 * (160_000_000 + pair * 400_000 - 3 * 400_000)).sum();
    let planted = ready_ns as f64 / 240_000_000.0;
    assert!((busy.ready_tasks - planted).abs() < 0.01, "{} of {planted}", busy.ready_tasks);
}

#[test]
fn main_off_the_workers_has_the_figures_that_were_planted() {
    let report = planted::nearly().report();
    assert!(matches!(report.verdict, Verdict::Healthy { .. }), "{report}");
    let main = report.locations.iter().find(|row| row.place.is_root).expect("it is listed");
    assert_eq!((main.held_ns, main.long_polls, main.off_worker_ns), (0, 0, 49_000_000));
}

/// No poll is long and no task dominates, but the workers are saturated.
#[test]
fn many_short_polls_that_saturate_the_workers_are_named() {
    let line = line!() + 6;
    // On a busy machine a worker may start so late that it was idle for a part of a short run.
    let run = |tasks: u64| {
        report_of(Flavor::TwoWorkers, NEVER, async move {
            let mut set = JoinSet::new();
            for _ in 0..tasks {
                set.spawn(async {
                    for _ in 0..3 {
                        compute(Duration::from_micros(100));
                        yield_now().await;
                    }
                });
            }
            while set.join_next().await.is_some() {}
        })
    };
    let mut runs = [400, 1600, 6400].into_iter().map(|tasks| (tasks, run(tasks)));
    let (tasks, report) = runs
        .find(|(_, report)| busy_workers(report).is_some())
        .expect("the workers were busy in one of the runs");
    let busy = busy_workers(&report).unwrap();
    assert_names(&report, &busy.row.place, line);
    assert_eq!((busy.workers, busy.row.tasks, busy.are_too_few), (2, tasks, true));
    assert!(busy.ready_tasks >= 2.0);
    assert!(report.to_string().starts_with("Too few workers for the load: "));
}

#[test]
fn tasks_that_only_yield_are_named() {
    for flavor in BOTH {
        let line = line!() + 10;
        // On a busy machine the tasks that run beside these may be too many for the workers, too.
        let is_alone = |report: &Report| busy_workers(report).is_some_and(|busy| !busy.are_too_few);
        let run = |_| {
            report_of(flavor, NEVER, async {
                // The tasks end together, so that no worker runs out of them.
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
            })
        };
        let report = (0..5).map(run).find(is_alone).expect("one of 5 runs names them alone");
        let tasks = assert_busy(&report, line);
        assert_eq!(tasks, 8);
    }
}

/// Asserts that according to the verdict the workers were busy with the tasks spawned in `line`, and returns the number of
/// these.
fn assert_busy(report: &Report, line: u32) -> u64 {
    let busy = busy_workers(report).filter(|busy| !busy.are_too_few);
    let busy = busy.unwrap_or_else(|| panic!("{:?}", report.verdict));
    assert_names(report, &busy.row.place, line);
    assert!(busy.taken_share <= busy.busy_share, "{:?}", report.verdict);
    busy.row.tasks
}

#[test]
fn a_healthy_program_has_no_verdict() {
    for flavor in BOTH {
        healthy_run(5, || {
            report_among(flavor, NO_NOISE, |rounds| async move {
                rounds.wait_for(500).await;
            })
        });
    }
}

/// With the default settings, other programs may preempt a poll for over 1 ms in some runs, but not in all. A wrong verdict
/// would appear in every run.
#[test]
fn a_healthy_program_has_no_verdict_by_default_either() {
    let long_poll = CollectorConfig::default().long_poll;
    healthy_run(100, || {
        report_among(Flavor::TwoWorkers, long_poll, |rounds| async move {
            rounds.wait_for(100).await;
        })
    });
}

/// Returns the report of the first of so many runs that has no verdict. On a busy machine a thread may get no processor for
/// long, but not in each run.
fn healthy_run(runs: usize, run: impl Fn() -> Report) -> Report {
    for number in 1..=runs {
        let report = run();
        if matches!(report.verdict, Verdict::Healthy { .. }) {
            println!("1 of {number} runs has no verdict");
            assert_healthy(&report);
            return report;
        }
    }
    panic!("each of {runs} runs has one");
}

/// `block_in_place` first moves the worker to another thread.
#[test]
fn a_task_in_block_in_place_is_not_named() {
    let run = || {
        report_among(Flavor::TwoWorkers, NO_NOISE, |rounds| async move {
            for _ in 0..2 {
                let rounds = Arc::clone(&rounds);
                let blocks = tokio::spawn(async move {
                    block_in_place(|| {
                        // The first hook on the other thread shows that the worker has moved.
                        rounds.block_until_on(2);
                        std::thread::sleep(LONG);
                    });
                });
                blocks.await.unwrap();
            }
        })
    };
    let report = healthy_run(5, run);
    assert!(report.counts.handovers >= 2, "{}", report.counts.handovers);
}

#[test]
fn main_is_named_only_where_it_holds_a_worker() {
    let blocks = || async {
        for _ in 0..2 {
            std::thread::sleep(LONG);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let report = healthy_run(5, || report_of(Flavor::TwoWorkers, NO_NOISE, blocks()));
    let main = report.locations.iter().find(|row| row.place.is_root).expect("it is listed");
    assert_eq!((main.held_ns, main.long_polls), (0, 0));
    assert!(main.off_worker_ns > 0, "{main:?}");

    let report = long_polls_of(Flavor::CurrentThread, NO_NOISE, blocks);
    let (_, polls) = long_polls(&report).unwrap_or_else(|| panic!("{:?}", report.verdict));
    let row = &polls.row;
    assert!(row.place.is_root);
    assert!(row.long_polls >= 2, "{row:?}");
    let text = report.to_string();
    let location = row.place.location.unwrap();
    let text = text.replace('\n', " ");
    assert!(text.contains(" held the runtime up: "), "{text}");
    assert!(text.contains(&format!("{location} (main)")), "{text}");
}

/// Tasks that block at one line of one function count together, with the spawn location of most of them.
#[test]
fn tasks_that_block_at_one_line_count_together() {
    for flavor in BOTH {
        let lines = [line!() + 3, line!() + 4, line!() + 5];
        let run = |times| {
            long_polls_of(flavor, BLOCK / 2, || async {
                let few = tokio::spawn(culprit(2 * times));
                let most = tokio::spawn(culprit(8 * times));
                let others = tokio::spawn(culprit(4 * times));
                for one in [few, most, others] {
                    one.await.unwrap();
                }
            })
        };
        // On a busy machine, polls of one of them may have no samples: then there are more.
        let is_each_seen = |report: &Report| {
            long_polls(report).is_some_and(|(culprit, _)| culprit.other_places == 2)
        };
        let mut runs = (1..=10_usize).map(|times| (times, run(times)));
        let (times, report) =
            runs.find(|(_, report)| is_each_seen(report)).expect("each is seen in some run");
        let (culprit, _) = long_polls(&report).unwrap_or_else(|| panic!("{report}"));
        let place = culprit.place.location.expect("locations are recorded");
        assert!(lines.contains(&place.line), "{report}");
        // Without stacks, only the spawn location is known.
        if cfg!(target_os = "linux") {
            let frame = culprit.frame.as_ref().expect("it is known");
            assert!(frame.function.contains("verdict::culprit"), "{frame:?}");
            // On a busy machine some of the polls may not be attributed to the task.
            assert!((3..=14 * times as u64).contains(&culprit.polls), "{report}");
            let slept = "blocked in std::thread::";
            assert!(culprit.blocking_cause.starts_with(slept), "{culprit:?}");
        }
        for (line, polls) in lines.into_iter().zip([2, 8, 4]) {
            let at = |row: &&LocationRow| row.place.location.is_some_and(|l| l.line == line);
            let row = report.locations.iter().find(at).expect("all are listed");
            assert!(row.long_polls >= polls, "{row:?}");
        }
    }
}

/// The time for which a [`culprit`] blocks.
const BLOCK: Duration = Duration::from_millis(30);

/// Blocks `n` times.
async fn culprit(n: usize) {
    for _ in 0..n {
        tokio::time::sleep(Duration::from_millis(5)).await;
        std::thread::sleep(BLOCK);
        // The next sleep may be over at once, and each block is to be in a poll of its own.
        tokio::task::yield_now().await;
    }
}
