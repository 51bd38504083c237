//! What held the runtime up long ago is the verdict of a run far longer than the buffer, and no event is lost
//! or counted twice for it.
#![cfg(tokio_unstable)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tests::check::check;
use tokio::runtime::Builder;
use tokio::task::yield_now;
use tokio_statemap::report::{LocationRow, Report, Verdict};
use tokio_statemap::statemap::read::read;
use tokio_statemap::statemap::{Recording, cut, recordings};
use tokio_statemap::summary::{LocationSummary, Stretch, Summary};
use tokio_statemap::timeline::{ClockChanges, Task};
use tokio_statemap::{
    Collector, CollectorConfig, Event, Hooks, Keep, Timeline, register_hooks, register_hooks_with,
};

/// A poll from this on is long: longer than what other programs on the machine cause, but for moments of which they take
/// much (see [`undisturbed`]).
const LONG_POLL: Duration = Duration::from_millis(100);
/// What is kept where all that goes on during the block has room.
const FEW_EVENTS: usize = 40_000;
/// What is kept where it doesn't.
const MANY_EVENTS: usize = 200_000;

fn spin(time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

/// Yields after every `work`.
async fn yields(polls: u32, work: Duration) {
    for _ in 0..polls {
        spin(work);
        yield_now().await;
    }
}

/// Installs the hooks, with some that count what is emitted.
fn install(builder: &mut Builder, config: CollectorConfig) -> (Arc<Collector>, Arc<AtomicU64>) {
    let emitted = Arc::new(AtomicU64::new(0));
    macro_rules! count {
        ($hooks:expr, $($hook:ident($($meta:ident)?)),+) => {{
            let hooks = $hooks;
            $(
                let counted = Arc::clone(&emitted);
                let hooks = hooks.$hook(move |$($meta)?| {
                    counted.fetch_add(1, Ordering::Relaxed);
                });
            )+
            hooks
        }};
    }
    let hooks = count!(
        Hooks::new(),
        on_thread_start(),
        on_thread_stop(),
        on_thread_park(),
        on_thread_unpark(),
        on_task_spawn(_meta),
        on_before_task_poll(_meta),
        on_after_task_poll(_meta),
        on_task_terminate(_meta)
    );
    (register_hooks_with(builder, config, hooks).unwrap(), emitted)
}

/// A run with a block.
struct Run {
    collector: Arc<Collector>,
    /// That of the block's task.
    line: u32,
    /// How many events there were.
    emitted: u64,
    /// Whether the others were polled meanwhile. They are not if they yielded on the worker that is then blocked: no other
    /// worker takes those from it.
    others_ran: bool,
}

/// How long the block goes on if the others are not polled.
const PATIENCE: Duration = Duration::from_secs(2);

/// A long block in the first moments, in which others are polled so many times, each for `work`, as they are before
/// and after it; then several times as many events as are kept.
fn block_then_busy(max_events: usize, polls: u64, work: Duration) -> Run {
    let mut builder = Builder::new_multi_thread();
    let config = CollectorConfig { max_events, long_poll: LONG_POLL, ..CollectorConfig::default() };
    let (collector, emitted) = install(builder.worker_threads(2).enable_all(), config);
    collector.start();
    let runtime = builder.build().unwrap();
    let (mut line, mut others_ran) = (0, false);
    // Not with `Collector::block_on`: the root future has no hook that could be counted.
    runtime.block_on(async {
        let ends = Arc::new(AtomicBool::new(false));
        let others = Arc::new(AtomicU64::new(0));
        let other = || {
            let (ends, others) = (Arc::clone(&ends), Arc::clone(&others));
            let collector = Arc::clone(&collector);
            async move {
                while !ends.load(Ordering::Relaxed) {
                    yields(1, work).await;
                    if others.fetch_add(1, Ordering::Relaxed) % 1000 == 0 {
                        look_through(&collector);
                    }
                }
            }
        };
        let tasks: Vec<_> = (0..4).map(|_| tokio::spawn(other())).collect();
        let some_more = async || {
            let until = others.load(Ordering::Relaxed) + 200;
            while others.load(Ordering::Relaxed) < until {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        some_more().await;
        let meanwhile = Arc::clone(&others);
        line = line!() + 1;
        let blocks = tokio::spawn(async move {
            let until = meanwhile.load(Ordering::Relaxed) + polls;
            std::thread::sleep(LONG_POLL + LONG_POLL / 4);
            let began = Instant::now();
            while meanwhile.load(Ordering::Relaxed) < until && began.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(1));
            }
            meanwhile.load(Ordering::Relaxed) >= until
        });
        others_ran = blocks.await.unwrap();
        some_more().await;
        ends.store(true, Ordering::Relaxed);
        for task in tasks {
            task.await.unwrap();
        }
        let polls_each = u32::try_from(max_events / 120).unwrap();
        for _ in 0..40 {
            let busy = (0..8).map(|_| tokio::spawn(yields(polls_each, Duration::ZERO)));
            for task in busy.collect::<Vec<_>>() {
                task.await.unwrap();
            }
            look_through(&collector);
        }
    });
    drop(runtime);
    collector.stop();
    Run { collector, line, emitted: emitted.load(Ordering::Relaxed), others_ran }
}

/// Looks through what is to be evicted. On a machine so busy that the background thread gets no processor nobody does, and
/// what is evicted is added up, but none of it kept.
fn look_through(collector: &Collector) {
    collector.lost();
}

/// A run in which the block is the only long poll, and others are polled meanwhile. That of another is long where other
/// programs take both processors for so long.
fn undisturbed(max_events: usize, polls: u64, work: Duration) -> Run {
    let is_undisturbed = |run: &Run| {
        let timeline = run.collector.snapshot();
        let whole = timeline.whole_run().unwrap();
        assert!(whole.longest_polls[0].length_ns >= LONG_POLL.as_nanos() as u64, "{whole:?}");
        let second = whole.longest_polls.get(1).map_or(0, |poll| poll.length_ns);
        run.others_ran && second < LONG_POLL.as_nanos() as u64
    };
    let mut runs = (0..10).map(|_| block_then_busy(max_events, polls, work));
    runs.find(is_undisturbed).expect("others are polled for long, or not at all, each time")
}

/// Of whom the report speaks first: the line, and the time.
fn culprit(report: &Report) -> Option<(u32, u64)> {
    match &report.verdict {
        Verdict::LongPolls { culprit, .. } => {
            let mut longest = report.longest_polls.iter();
            let of = longest.find(|poll| poll.place == culprit.place)?;
            Some((culprit.place.location?.line, of.start_ns))
        }
        _ => None,
    }
}

#[test]
fn a_block_in_the_first_moments_is_the_verdict() {
    // Much less than what may wait for the end of a poll, which is half of what is kept.
    let meanwhile = FEW_EVENTS as u64 / 40;
    let Run { collector, line, emitted, .. } =
        undisturbed(FEW_EVENTS, meanwhile, Duration::from_micros(50));
    let timeline = collector.snapshot();
    assert_eq!(timeline.events + timeline.lost.total(), emitted, "each is kept or counted");
    assert_eq!(timeline.lost, collector.lost());
    // One event is a poll's start, or its end, a spawn, or what a thread did.
    let whole = timeline.whole_run().unwrap();
    assert!(whole.polls > emitted / 4 && whole.polls < emitted / 2, "{}", whole.polls);
    assert_eq!(collector.summary().polls, whole.polls);
    assert!(timeline.lost.dropped_events > 3 * FEW_EVENTS as u64);
    assert!(timeline.events <= FEW_EVENTS as u64);
    let report = timeline.report();
    let (found, at_ns) = culprit(&report).unwrap_or_else(|| panic!("{report}"));
    assert_eq!(found, line, "{report}");
    assert!(at_ns < timeline.recent_ns, "{report}");
    // It is there as a whole, with what was around it.
    let (from, to) = timeline
        .stretches_before()
        .find(|&(from, to)| (from..to).contains(&at_ns))
        .unwrap_or_else(|| panic!("{report}"));
    let blocked = |task: &&Task| task.location.is_some_and(|location| location.line == line);
    let block = timeline.tasks.iter().find(blocked).unwrap();
    // The tasks that ended between then and now are not taken to be alive.
    assert!(block.terminated_ns.is_some());
    assert_eq!(report.live_tasks, 0, "{report}");
    let [block] = &block.polls[..] else { panic!("{block:?}") };
    let (begins, ends) = (block.start_ns(), block.end_ns().expect("it has ended"));
    assert!(from < begins && ends < to, "{from} {begins} {ends} {to}: {report}");
    let polls = timeline.tasks.one_by_one().flat_map(|task| task.into_owned().polls);
    let within = polls.filter(|poll| (begins..ends).contains(&poll.start_ns())).count() as u64;
    // The block's own is one more; another may be emitted before it is counted, or after.
    assert!(within >= meanwhile, "{within}: {report}");
    let words: Vec<_> = report.to_string().split_whitespace().map(str::to_owned).collect();
    assert!(words.join(" ").contains("before, around the longest polls"), "{report}");
    // The report is of the whole run.
    assert_eq!((report.tasks, report.polls), (whole.tasks, whole.polls), "{report}");
    assert_eq!(report.recorded_ns, whole.recorded_ns, "{report}");
    let by_row = |of: fn(&LocationRow) -> u64| report.locations.iter().map(of).sum::<u64>();
    assert_eq!((by_row(|row| row.tasks), by_row(|row| row.polls)), (whole.tasks, whole.polls));
    assert!(report.detail_ns.is_some_and(|ns| ns < report.recorded_ns), "{report}");
    assert!(report.longest_polls.iter().all(|poll| poll.length_ns <= report.end_ns), "{report}");
    files_say_the_same(&timeline, &report);
    // A drain returns all that is kept, and leaves nothing.
    let events = collector.drain_events();
    assert_eq!(events.len() as u64, timeline.events);
    assert!(events.is_sorted_by_key(Event::time_ns));
    assert_eq!(events.len() as u64 + collector.lost().total(), emitted);
    let after = collector.snapshot();
    assert_eq!((after.events, after.stretches_before().count()), (0, 0));
}

/// The same where so much goes on meanwhile that it can't all be kept. Where nobody gets to look through what is evicted in
/// time, nothing of it is kept, but it is added up all the same.
#[test]
#[ignore = "slow: millions of events"]
fn a_long_block_among_many_events_is_the_verdict() {
    const RUNS: usize = 8;
    for run in 1..=RUNS {
        // Each poll is two events.
        let Run { collector, line, emitted, .. } =
            undisturbed(MANY_EVENTS, MANY_EVENTS as u64 / 2, Duration::from_micros(5));
        let timeline = collector.snapshot();
        assert_eq!(timeline.events + timeline.lost.total(), emitted, "each is kept or counted");
        assert_eq!(timeline.machine.clock, ClockChanges::default(), "a busy machine is no jump");
        let whole = timeline.whole_run().unwrap();
        let longest = whole.longest_polls[0];
        let location = whole.locations[longest.location].location.unwrap();
        assert!(longest.worker.is_some(), "{longest:?}");
        assert_eq!(location.line, line, "{longest:?}");
        let report = timeline.report();
        let Some((found, at_ns)) = culprit(&report) else {
            println!("run {run}: it isn't kept\n{report}");
            continue;
        };
        println!("kept in run {run}");
        assert_eq!(found, line, "{report}");
        assert!(at_ns.abs_diff(longest.start_ns) <= 1, "{longest:?}: {report}");
        let of_report = &report.longest_polls[0];
        // Both are rounded.
        let is_same = of_report.length_ns.abs_diff(longest.length_ns) <= 1;
        assert!(!of_report.is_cut && is_same, "{longest:?}: {report}");
        // It begins in one stretch, and ends in another, unless all that went on meanwhile had room.
        let of =
            |at_ns| timeline.stretches_before().position(|(from, to)| (from..=to).contains(&at_ns));
        let (begins, ends) = (of(at_ns), of(at_ns + longest.length_ns));
        assert!(begins.is_some() && begins <= ends, "{begins:?} {ends:?}: {report}");
        return files_say_the_same(&timeline, &report);
    }
    panic!("the block is kept in none of {RUNS} runs");
}

fn files_say_the_same(timeline: &Timeline, report: &Report) {
    let data = timeline.clone().to_data();
    let (tasks, workers) = (data.tasks_to_bytes().unwrap(), data.workers_to_bytes().unwrap());
    check(&tasks).unwrap();
    check(&workers).unwrap();
    let files = [read(&tasks[..]).unwrap(), read(&workers[..]).unwrap()];
    let both = recordings(&files);
    let [Recording::Run { timeline: again, .. }] = &both[..] else { panic!("another run") };
    assert_eq!(again.report().to_string(), report.to_string());
    assert_eq!(again.recent_ns, timeline.recent_ns);
    assert_eq!(again.whole_run(), timeline.whole_run());
    assert!(again.whole_run().is_some_and(|whole| whole.stretches.len() > 10));
    // One of them alone says of the whole run what it has.
    for file in &files {
        let alone = recordings(std::slice::from_ref(file));
        let [Recording::Run { timeline: alone, .. }] = &alone[..] else { panic!("another run") };
        let of_alone = alone.report();
        let counts = |report: &Report| (report.recorded_ns, report.tasks, report.polls);
        assert_eq!(counts(&of_alone), counts(report));
        let is_tasks = alone.workers.is_empty();
        assert_eq!(of_alone.workers.is_empty(), is_tasks);
        if is_tasks {
            assert_eq!(of_alone.locations, report.locations);
            assert_eq!(of_alone.longest_polls, report.longest_polls);
            assert_eq!(culprit(&of_alone), culprit(report));
        } else {
            assert_eq!(of_alone.workers, report.workers);
        }
    }
    // A part is of what it shows.
    let mut parts = files;
    cut(&mut parts, 0, Some(1_000_000));
    let cut = recordings(&parts);
    let [Recording::Run { timeline: part, .. }] = &cut[..] else { panic!("another run") };
    assert!(part.whole_run().is_none() && part.report().detail_ns.is_none());
}

/// Long polls all the time, while others read, drain, stop and start.
#[test]
fn no_event_is_lost_or_counted_twice() {
    let mut builder = Builder::new_multi_thread();
    let config = CollectorConfig {
        max_events: 60_000,
        long_poll: Duration::from_millis(1),
        ..CollectorConfig::default()
    };
    let (collector, emitted) = install(builder.worker_threads(2).enable_all(), config);
    collector.start();
    let runtime = builder.build().unwrap();
    let ends = AtomicBool::new(false);
    let drained = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut drained = 0;
            for round in 1.. {
                let timeline = collector.snapshot();
                assert!(timeline.events <= 60_000, "{}", timeline.events);
                if round % 32 == 0 {
                    let events = collector.drain_events();
                    assert!(events.is_sorted_by_key(Event::time_ns));
                    drained += events.len() as u64;
                }
                if ends.load(Ordering::Relaxed) {
                    break;
                }
            }
            drained
        });
        runtime.block_on(async {
            let one = |i: u64| async move {
                for poll in 0..400 {
                    let is_long = (i + poll) % 100 == 0;
                    spin(Duration::from_micros(if is_long { 3000 } else { 2 }));
                    yield_now().await;
                }
            };
            for _ in 0..8 {
                let tasks: Vec<_> = (0..40).map(|i| tokio::spawn(one(i))).collect();
                for task in tasks {
                    task.await.unwrap();
                }
            }
        });
        ends.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });
    drop(runtime);
    let timeline = collector.snapshot();
    let kept = timeline.events + timeline.lost.total();
    assert_eq!(drained + kept, emitted.load(Ordering::Relaxed));
}

/// Each poll is in exactly one of the summaries between resets, however little is kept, while others read and drain.
#[test]
fn each_poll_is_in_one_summary() {
    const TASKS: u64 = 300;
    let mut builder = Builder::new_multi_thread();
    let config = CollectorConfig { max_events: 2000, ..CollectorConfig::default() };
    let polled = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&polled);
    let hooks = Hooks::new().on_after_task_poll(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let builder = builder.worker_threads(2).enable_all();
    let collector = register_hooks_with(builder, config, hooks).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    let ends = AtomicBool::new(false);
    let mut summaries = std::thread::scope(|scope| {
        let reset = scope.spawn(|| {
            let mut summaries = Vec::new();
            while !ends.load(Ordering::Relaxed) {
                summaries.push(collector.reset_summary());
            }
            summaries
        });
        let others = scope.spawn(|| {
            while !ends.load(Ordering::Relaxed) {
                assert!(collector.snapshot().whole_run().is_some());
                drop((collector.drain_events(), collector.summary()));
            }
        });
        runtime.block_on(async {
            let tasks = (0..TASKS).map(|i| tokio::spawn(yields(i as u32, Duration::ZERO)));
            for task in tasks.collect::<Vec<_>>() {
                task.await.unwrap();
            }
        });
        ends.store(true, Ordering::Relaxed);
        others.join().unwrap();
        reset.join().unwrap()
    });
    drop(runtime);
    collector.stop();
    summaries.push(collector.reset_summary());
    let last = summaries.last().unwrap();
    assert_eq!((last.running_polls, last.cut_polls, last.missed_events), (0, 0, 0), "{last:?}");
    let over = |of: &Summary| of.polls - of.running_polls;
    assert_eq!(summaries.iter().map(over).sum::<u64>(), polled.load(Ordering::Relaxed));
    assert_eq!(summaries.iter().map(|of| of.tasks).sum::<u64>(), TASKS);
    for of in &summaries {
        let by_row = |what: fn(&LocationSummary) -> u64| of.locations.iter().map(what).sum::<u64>();
        assert_eq!(by_row(|row| row.polls.count()), of.polls);
        assert_eq!(by_row(|row| row.tasks), of.tasks);
        assert_eq!(of.workers.iter().map(|worker| worker.polls).sum::<u64>(), of.polls, "{of:?}");
        assert_eq!(of.stretches.iter().map(|stretch| stretch.polls).sum::<u64>(), of.polls);
        assert!(of.stretches.len() <= 2000 && of.longest_polls.len() as u64 <= of.polls);
    }
    let after = collector.summary();
    assert_eq!((after.polls, after.tasks, after.locations.len()), (0, 0, 0), "{after:?}");
}

/// Neither root futures, nor the tasks of the blocking pool, nor the workers' own loops are among the tasks that end.
#[test]
fn as_many_tasks_end_as_are_spawned() {
    let mut builder = Builder::new_multi_thread();
    let builder = builder.worker_threads(2).enable_all();
    let collector = register_hooks(builder, CollectorConfig::default()).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    for _ in 0..5 {
        collector.block_on(&runtime, async {
            for _ in 0..10 {
                tokio::spawn(yields(3, Duration::ZERO)).await.unwrap();
                tokio::task::spawn_blocking(|| ()).await.unwrap();
            }
        });
    }
    drop(runtime);
    collector.stop();
    let whole = collector.summary();
    let sum = |what: fn(&Stretch) -> u64| whole.stretches.iter().map(what).sum::<u64>();
    assert_eq!((whole.tasks, sum(|s| s.spawned), sum(|s| s.terminated)), (50, 50, 50));
}

/// With `keep = "first"` each event is in a summary or missed, whether it is drained or not; and both begin anew with a
/// reset.
#[test]
fn what_is_refused_is_missed_once() {
    let mut builder = Builder::new_current_thread();
    let config = CollectorConfig {
        max_events: 100,
        buffer_capacity: 64,
        keep: Keep::First,
        ..CollectorConfig::default()
    };
    let (collector, emitted) = install(&mut builder, config);
    collector.start();
    let runtime = builder.build().unwrap();
    runtime.block_on(async { tokio::spawn(yields(200, Duration::ZERO)).await.unwrap() });
    drop(runtime);
    collector.stop();
    let before = collector.summary();
    // A poll is two events; a spawn, an end, and what the thread does are the others.
    assert!(before.polls <= 50 && before.polls > 40, "{before:?}");
    assert_eq!(before.missed_events + 100, emitted.load(Ordering::Relaxed));
    let drained = collector.drain_events();
    assert_eq!(drained.len(), 100);
    let after = collector.summary();
    assert_eq!((after.polls, after.missed_events), (before.polls, before.missed_events));
    assert_eq!(collector.reset_summary().missed_events, before.missed_events);
    let anew = collector.summary();
    assert_eq!((anew.polls, anew.missed_events), (0, 0), "{anew:?}");
}
