//! In a run far longer than the buffer, a block from long ago is still the verdict, and no event is lost or counted twice.
#![cfg(tokio_unstable)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tests::check::check;
use tests::first_issue::long_polls;
use tests::load::spin;
use tests::runtime::{builder, counting_hooks, recorded};
use tokio::runtime::Builder;
use tokio::task::yield_now;
use tokio_statemap::report::{LocationRow, Report};
use tokio_statemap::statemap::read::read;
use tokio_statemap::statemap::{Recording, cut, recordings};
use tokio_statemap::summary::{LocationSummary, Stretch, Summary};
use tokio_statemap::timeline::{ClockChanges, Task};
use tokio_statemap::{
    Collector, CollectorConfig, Event, Hooks, Keep, Timeline, register_hooks_with,
};

/// The length of a long poll. Other programs on the machine rarely delay a poll for so long.
const LONG_POLL: Duration = Duration::from_millis(100);
/// The size of a buffer that has room for all events during the block.
const FEW_EVENTS: usize = 40_000;
/// The size of a buffer that is filled several times during the block.
const MANY_EVENTS: usize = 100_000;
/// The time after which a test fails that would hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// Computes for `work` in each of `polls` polls.
async fn yields(polls: u32, work: Duration) {
    for _ in 0..polls {
        spin(work);
        yield_now().await;
    }
}

/// Installs hooks that record, and others that count the emitted events.
fn install(builder: &mut Builder, config: CollectorConfig) -> (Arc<Collector>, Arc<AtomicU64>) {
    let (hooks, emitted) = counting_hooks();
    (register_hooks_with(builder.enable_all(), config, hooks).unwrap(), emitted)
}

/// A run with a block.
struct Run {
    collector: Arc<Collector>,
    timeline: Timeline,
    /// The line where the task that blocks is spawned.
    line: u32,
    /// The number of emitted events.
    emitted: u64,
}

/// Blocks a worker early in a run, which then emits several times as many events as are kept.
///
/// During the block other tasks have `polls` polls of `work`, and some more before and after it. The block takes a long poll and
/// a quarter, and that and the work are `longer` times as long. Asserts that each event is kept or counted, and that the sums of
/// the run know the block.
fn block_then_busy(max_events: usize, polls: u64, work: Duration, longer: u32) -> Run {
    let (block, work) = ((LONG_POLL + LONG_POLL / 4) * longer, work * longer);
    let mut builder = builder(2);
    let config = CollectorConfig { max_events, long_poll: LONG_POLL, ..CollectorConfig::default() };
    let (collector, emitted) = install(&mut builder, config);
    collector.start();
    let runtime = builder.build().unwrap();
    let mut line = 0;
    // `Collector::block_on` would record the root future, which the hooks can't count.
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
                        evict(&collector);
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
            // Tasks that yielded on this worker stay on it, and wait for the end of the block. It must begin while the other
            // worker polls some.
            loop {
                let before = meanwhile.load(Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(1));
                if meanwhile.load(Ordering::Relaxed) > before {
                    break;
                }
                yield_now().await;
            }
            let until = meanwhile.load(Ordering::Relaxed) + polls;
            let began = Instant::now();
            std::thread::sleep(block);
            while meanwhile.load(Ordering::Relaxed) < until {
                assert!(began.elapsed() < PATIENCE, "the other tasks aren't polled");
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        blocks.await.unwrap();
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
            evict(&collector);
        }
    });
    drop(runtime);
    collector.stop();
    let (timeline, emitted) = (collector.snapshot(), emitted.load(Ordering::Relaxed));
    assert_eq!(timeline.events + timeline.lost.total(), emitted, "each is kept or counted");
    assert_eq!(timeline.lost, collector.lost());
    assert!(timeline.lost.dropped_events > 3 * max_events as u64);
    assert!(timeline.events <= max_events as u64);
    // A poll is two events; spawns, ends, parks and unparks are one each.
    let whole = timeline.whole_run().unwrap();
    assert!(whole.polls > emitted / 4 && whole.polls < emitted / 2, "{}", whole.polls);
    assert_eq!(collector.summary().polls, whole.polls);
    let lines = whole.locations.iter().map(|row| row.location.map(|location| location.line));
    let lines: Vec<_> = lines.collect();
    let mut longest = whole.longest_polls.iter();
    let block = longest.find(|poll| lines[poll.location] == Some(line)).expect("it is kept");
    assert!(block.length_ns >= LONG_POLL.as_nanos() as u64, "{block:?}");
    assert!(block.worker.is_some(), "{block:?}");
    Run { collector, timeline, line, emitted }
}

/// Evicts the oldest events on this thread. On a machine so busy that the background thread gets no processor, evicted
/// events would only be added up, and nothing of them kept.
fn evict(collector: &Collector) {
    collector.lost();
}

/// Returns the line that the verdict blames for long polls, and the start of the longest one.
fn blamed(report: &Report) -> Option<(u32, u64)> {
    let (culprit, _) = long_polls(report)?;
    let mut longest = report.longest_polls.iter();
    let poll = longest.find(|poll| poll.place == culprit.place)?;
    Some((culprit.place.location?.line, poll.start_ns))
}

/// Runs [`block_then_busy`] until the verdict of `enough` runs is the block, `most` times at most, and passes each of these
/// to `check`, with the report and the block's start.
///
/// The machine may delay another poll for longer than the block, or keep the recorder from looking at it, or let what follows
/// take so long that the block is little of it. So the verdict is a matter of rates, and each block is twice as long as the one
/// before.
fn assert_verdict(
    (enough, most): (usize, usize),
    (max_events, polls, work): (usize, u64, Duration),
    check: impl Fn(Run, Report, u64),
) {
    let mut named = 0;
    for runs in 1..=most {
        let run = block_then_busy(max_events, polls, work, 1 << (runs - 1));
        let report = run.timeline.report();
        match blamed(&report) {
            Some((line, at_ns)) if line == run.line => {
                check(run, report, at_ns);
                named += 1;
            }
            _ => println!("the block isn't the verdict\n{report}"),
        }
        if named == enough {
            return println!("the block is the verdict of {named} of {runs} runs");
        }
    }
    panic!("the block is the verdict of {named} of {most} runs");
}

#[test]
#[ignore = "slow: several runs of many events"]
fn an_early_block_is_the_verdict() {
    // The events during the block must be much fewer than may wait for the end of a poll: half of the kept ones.
    let meanwhile = FEW_EVENTS as u64 / 40;
    let parameters = (FEW_EVENTS, meanwhile, Duration::from_micros(50));
    assert_verdict((2, 5), parameters, |run, report, at_ns| {
        assert_block_is_kept(&run, &report, at_ns, meanwhile);
    });
}

/// Asserts that the block is kept with everything around it, and that the report and the files are of the whole run.
fn assert_block_is_kept(run: &Run, report: &Report, at_ns: u64, meanwhile: u64) {
    let Run { collector, timeline, line, emitted } = run;
    let (line, emitted) = (*line, *emitted);
    let whole = timeline.whole_run().unwrap();
    assert!(at_ns < timeline.recent_ns, "{report}");
    let (from, to) = timeline
        .stretches_before()
        .find(|&(from, to)| (from..to).contains(&at_ns))
        .unwrap_or_else(|| panic!("{report}"));
    let blocked = |task: &&Task| task.location.is_some_and(|location| location.line == line);
    let block = timeline.tasks.iter().find(blocked).unwrap();
    // Tasks that ended between then and the kept events aren't taken to be alive.
    assert!(block.terminated_ns.is_some());
    assert_eq!(report.counts.live_tasks, 0, "{report}");
    let block = block.polls.iter().find(|poll| poll.start_ns() == at_ns).expect("it is kept");
    let (begins, ends) = (block.start_ns(), block.end_ns().expect("it has ended"));
    assert!(from < begins && ends < to, "{from} {begins} {ends} {to}: {report}");
    let polls = timeline.tasks.one_by_one().flat_map(|task| task.into_owned().polls);
    let within = polls.filter(|poll| (begins..ends).contains(&poll.start_ns())).count() as u64;
    // The block itself is one more, and polls are counted shortly after they were emitted.
    assert!(within >= meanwhile, "{within}: {report}");
    let words: Vec<_> = report.to_string().split_whitespace().map(str::to_owned).collect();
    assert!(words.join(" ").contains("before, around the longest polls"), "{report}");
    // The report covers the whole run.
    assert_eq!((report.counts.tasks, report.counts.polls), (whole.tasks, whole.polls), "{report}");
    assert_eq!(report.recording.recorded_ns, whole.recorded_ns, "{report}");
    let by_row = |value: fn(&LocationRow) -> u64| report.locations.iter().map(value).sum::<u64>();
    assert_eq!((by_row(|row| row.tasks), by_row(|row| row.polls)), (whole.tasks, whole.polls));
    assert!(
        report.recording.detail_ns.is_some_and(|ns| ns < report.recording.recorded_ns),
        "{report}"
    );
    assert!(
        report.longest_polls.iter().all(|poll| poll.length_ns <= report.recording.end_ns),
        "{report}"
    );
    assert_files_say_the_same(timeline, report);
    // A drain returns everything that is kept.
    let events = collector.drain_events();
    assert_eq!(events.len() as u64, timeline.events);
    assert!(events.is_sorted_by_key(Event::time_ns));
    assert_eq!(events.len() as u64 + collector.lost().total(), emitted);
    let after = collector.snapshot();
    assert_eq!((after.events, after.stretches_before().count()), (0, 0));
}

/// More events are emitted during the block than can be kept.
#[test]
#[ignore = "slow: a million events"]
fn an_early_block_among_many_events_is_the_verdict() {
    // A poll is two events.
    let parameters = (MANY_EVENTS, MANY_EVENTS as u64 / 2, Duration::from_micros(5));
    assert_verdict((1, 4), parameters, |run, report, at_ns| {
        let timeline = &run.timeline;
        assert_eq!(timeline.machine.clock, ClockChanges::default(), "a busy machine is no jump");
        let whole = timeline.whole_run().unwrap();
        let mut longest = whole.longest_polls.iter();
        // The times are rounded.
        let block = longest.find(|poll| poll.start_ns.abs_diff(at_ns) <= 1).expect("it is kept");
        let mut reported = report.longest_polls.iter();
        let reported = reported.find(|poll| poll.start_ns == at_ns).expect("it is reported");
        let is_same = reported.length_ns.abs_diff(block.length_ns) <= 1;
        assert!(!reported.is_cut && is_same, "{block:?}: {report}");
        // It begins in one stretch and ends in another, unless all events of the block had room.
        let stretch =
            |at_ns| timeline.stretches_before().position(|(from, to)| (from..=to).contains(&at_ns));
        let (begins, ends) = (stretch(at_ns), stretch(at_ns + block.length_ns));
        assert!(begins.is_some() && begins <= ends, "{begins:?} {ends:?}: {report}");
        assert_files_say_the_same(timeline, &report);
    });
}

fn assert_files_say_the_same(timeline: &Timeline, report: &Report) {
    let data = timeline.clone().to_data();
    let (tasks, workers) = (data.tasks_to_bytes().unwrap(), data.workers_to_bytes().unwrap());
    check(&tasks).unwrap();
    check(&workers).unwrap();
    let files = [read(&tasks[..]).unwrap(), read(&workers[..]).unwrap()];
    let both = recordings(&files);
    let [Recording::Run { timeline: again, .. }] = &both[..] else { panic!("another run") };
    assert_eq!(again.report().to_string(), report.to_string());
    assert_eq!(again.recent_ns, timeline.recent_ns);
    // The data doesn't say which tasks live, and which polls run.
    let mut recorded = timeline.whole_run().cloned();
    if let Some(whole) = &mut recorded {
        (whole.live_tasks, whole.running) = (None, Vec::new());
    }
    assert_eq!(again.whole_run(), recorded.as_ref());
    assert!(again.whole_run().is_some_and(|whole| whole.stretches.len() > 10));
    // Each file alone has its part of the whole run.
    for file in &files {
        let alone = recordings(std::slice::from_ref(file));
        let [Recording::Run { timeline: alone, .. }] = &alone[..] else { panic!("another run") };
        let alone_report = alone.report();
        let counts = |report: &Report| {
            (report.recording.recorded_ns, report.counts.tasks, report.counts.polls)
        };
        assert_eq!(counts(&alone_report), counts(report));
        let is_tasks = alone.workers.is_empty();
        assert_eq!(alone_report.workers.is_empty(), is_tasks);
        if is_tasks {
            assert_eq!(alone_report.locations, report.locations);
            assert_eq!(alone_report.longest_polls, report.longest_polls);
            assert_eq!(blamed(&alone_report), blamed(report));
        } else {
            assert_eq!(alone_report.workers, report.workers);
        }
    }
    // A cut part has no sums of the whole run.
    let mut parts = files;
    cut(&mut parts, 0, Some(1_000_000));
    let cut = recordings(&parts);
    let [Recording::Run { timeline: part, .. }] = &cut[..] else { panic!("another run") };
    assert!(part.whole_run().is_none() && part.report().recording.detail_ns.is_none());
}

/// Many long polls are evicted while another thread takes snapshots and drains.
#[test]
fn no_event_is_lost_or_counted_twice() {
    let mut builder = builder(2);
    let config = CollectorConfig {
        max_events: 60_000,
        long_poll: Duration::from_millis(1),
        ..CollectorConfig::default()
    };
    let (collector, emitted) = install(&mut builder, config);
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
    let mut builder = builder(2);
    let config = CollectorConfig { max_events: 2000, ..CollectorConfig::default() };
    let polled = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&polled);
    let hooks = Hooks::new().on_after_task_poll(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let collector = register_hooks_with(builder.enable_all(), config, hooks).unwrap();
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
    let ended = |summary: &Summary| summary.polls - summary.running_polls;
    assert_eq!(summaries.iter().map(ended).sum::<u64>(), polled.load(Ordering::Relaxed));
    assert_eq!(summaries.iter().map(|summary| summary.tasks).sum::<u64>(), TASKS);
    for summary in &summaries {
        let Summary { locations, workers, stretches, longest_polls, polls, .. } = summary;
        let by_row = |value: fn(&LocationSummary) -> u64| locations.iter().map(value).sum::<u64>();
        assert_eq!(by_row(|row| row.polls.count()), *polls);
        assert_eq!(by_row(|row| row.tasks), summary.tasks);
        assert_eq!(workers.iter().map(|worker| worker.polls).sum::<u64>(), *polls, "{summary:?}");
        assert_eq!(stretches.iter().map(|stretch| stretch.polls).sum::<u64>(), *polls);
        assert!(stretches.len() <= 2000 && longest_polls.len() as u64 <= *polls);
    }
    let after = collector.summary();
    assert_eq!((after.polls, after.tasks, after.locations.len()), (0, 0, 0), "{after:?}");
}

/// Root futures, tasks of the blocking pool, and the workers' own loops don't count as tasks that end.
#[test]
fn as_many_tasks_end_as_are_spawned() {
    let (collector, runtime) = recorded(builder(2), CollectorConfig::default());
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

/// With `keep = "first"`, each event is in a summary or counted as missed, whether it is drained or not. A reset starts both
/// anew.
#[test]
fn refused_events_are_missed_once() {
    let mut builder = builder(0);
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
    // A poll is two events; a spawn, an end, parks and unparks are the others.
    assert!(before.polls <= 50 && before.polls > 40, "{before:?}");
    assert_eq!(before.missed_events + 100, emitted.load(Ordering::Relaxed));
    let drained = collector.drain_events();
    assert_eq!(drained.len(), 100);
    let after = collector.summary();
    assert_eq!((after.polls, after.missed_events), (before.polls, before.missed_events));
    assert_eq!(collector.reset_summary().missed_events, before.missed_events);
    let after = collector.summary();
    assert_eq!((after.polls, after.missed_events), (0, 0), "{after:?}");
}
