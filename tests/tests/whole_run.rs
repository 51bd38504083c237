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

const BLOCK: Duration = Duration::from_millis(150);
/// Shorter than the block, and longer than what other programs on the machine cause.
const LONG_POLL: Duration = Duration::from_millis(100);
const MAX_EVENTS: usize = 200_000;

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

/// One block of so long in the first moments, while others yield after every `work`, then several times as many events
/// as are kept. Returns the line of the block's task, and how many events there were.
fn block_then_busy(block: Duration, work: Duration) -> (Arc<Collector>, u32, u64) {
    let mut builder = Builder::new_multi_thread();
    let config = CollectorConfig {
        max_events: MAX_EVENTS,
        long_poll: LONG_POLL,
        ..CollectorConfig::default()
    };
    let (collector, emitted) = install(builder.worker_threads(2).enable_all(), config);
    collector.start();
    let runtime = builder.build().unwrap();
    let mut line = 0;
    // Not with `Collector::block_on`: the root future has no hook that could be counted.
    runtime.block_on(async {
        let ends = Arc::new(AtomicBool::new(false));
        let other = || {
            let ends = Arc::clone(&ends);
            async move {
                while !ends.load(Ordering::Relaxed) {
                    yields(1, work).await;
                }
            }
        };
        let others: Vec<_> = (0..4).map(|_| tokio::spawn(other())).collect();
        yields(1200, Duration::from_micros(50)).await;
        line = line!() + 1;
        tokio::spawn(async move { std::thread::sleep(block) }).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        ends.store(true, Ordering::Relaxed);
        for other in others {
            other.await.unwrap();
        }
        let busy = (0..8).map(|_| tokio::spawn(yields(70_000, Duration::ZERO)));
        for task in busy.collect::<Vec<_>>() {
            task.await.unwrap();
        }
    });
    drop(runtime);
    collector.stop();
    (collector, line, emitted.load(Ordering::Relaxed))
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
    let work = Duration::from_micros(50);
    let (collector, line, emitted) = block_then_busy(BLOCK, work);
    let timeline = collector.snapshot();
    assert_eq!(timeline.events + timeline.lost.total(), emitted, "each is kept or counted");
    assert_eq!(timeline.lost, collector.lost());
    // One event is a poll's start, or its end, a spawn, or what a thread did.
    let whole = timeline.whole_run().unwrap();
    assert!(whole.polls > emitted / 4 && whole.polls < emitted / 2, "{}", whole.polls);
    assert_eq!(collector.summary().polls, whole.polls);
    assert!(timeline.lost.dropped_events > 3 * MAX_EVENTS as u64);
    assert!(timeline.events <= MAX_EVENTS as u64);
    let report = timeline.report();
    let (found, at_ns) = culprit(&report).unwrap_or_else(|| panic!("{report}"));
    assert_eq!(found, line, "{report}");
    assert!(at_ns < timeline.recent_ns, "{report}");
    // It is there as a whole, with what was around it.
    let (from, to) = timeline
        .stretches_before()
        .find(|&(from, to)| (from..to).contains(&at_ns))
        .unwrap_or_else(|| panic!("{report}"));
    let end_ns = at_ns + BLOCK.as_nanos() as u64;
    assert!(from + 15_000_000 < at_ns && end_ns + 15_000_000 < to, "{from} {at_ns} {to}: {report}");
    let polls = timeline.tasks.one_by_one().flat_map(|task| task.into_owned().polls);
    let around = polls.filter(|poll| (from..to).contains(&poll.start_ns())).count();
    assert!(around > 10, "{around}: {report}");
    let words: Vec<_> = report.to_string().split_whitespace().map(str::to_owned).collect();
    assert!(words.join(" ").contains("before, around the longest polls"), "{report}");
    // The report is of the whole run.
    assert_eq!((report.tasks, report.polls), (whole.tasks, whole.polls), "{report}");
    assert_eq!(report.recorded_ns, whole.recorded_ns, "{report}");
    let by_row = |of: fn(&LocationRow) -> u64| report.locations.iter().map(of).sum::<u64>();
    assert_eq!((by_row(|row| row.tasks), by_row(|row| row.polls)), (whole.tasks, whole.polls));
    assert!(report.detail_ns.is_some_and(|ns| ns < report.recorded_ns), "{report}");
    assert!(report.longest_polls.iter().all(|poll| poll.length_ns <= report.end_ns), "{report}");
    // The tasks that ended between then and now are not taken to be alive.
    let blocked = |task: &&Task| task.location.is_some_and(|location| location.line == line);
    assert!(timeline.tasks.iter().find(blocked).unwrap().terminated_ns.is_some());
    assert_eq!(report.live_tasks, 0, "{report}");
    files_say_the_same(&timeline, &report);
    // A drain returns all that is kept, and leaves nothing.
    let events = collector.drain_events();
    assert_eq!(events.len() as u64, timeline.events);
    assert!(events.is_sorted_by_key(Event::time_ns));
    assert_eq!(events.len() as u64 + collector.lost().total(), emitted);
    let after = collector.snapshot();
    assert_eq!((after.events, after.stretches_before().count()), (0, 0));
}

/// The same where so much goes on meanwhile that it can't all be kept. A machine that is so busy that nobody looks through
/// what is evicted keeps nothing of it, but adds it up all the same.
#[test]
fn a_long_block_among_many_events_is_the_verdict() {
    const ATTEMPTS: usize = 5;
    let block = Duration::from_millis(600);
    let block_ns = block.as_nanos() as u64;
    for attempt in 1..=ATTEMPTS {
        let (collector, line, emitted) = block_then_busy(block, Duration::from_micros(5));
        let timeline = collector.snapshot();
        assert_eq!(timeline.events + timeline.lost.total(), emitted, "each is kept or counted");
        assert_eq!(timeline.machine.clock, ClockChanges::default(), "a busy machine is no jump");
        let whole = timeline.whole_run().unwrap();
        let longest = whole.longest_polls[0];
        let location = whole.locations[longest.location].location.unwrap();
        assert!(longest.worker.is_some() && longest.length_ns >= block_ns, "{longest:?}");
        assert_eq!(location.line, line, "{longest:?}");
        let report = timeline.report();
        let Some((found, at_ns)) =
            culprit(&report).filter(|_| timeline.stretches_before().count() > 0)
        else {
            assert!(attempt < ATTEMPTS, "{report}");
            continue;
        };
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
        assert!(begins.is_some() && ends.is_some() && begins <= ends, "{report}");
        return files_say_the_same(&timeline, &report);
    }
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
