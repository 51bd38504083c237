//! What held the runtime up long ago is the verdict of a run far longer than the buffer, and no event is lost
//! or counted twice for it.
#![cfg(tokio_unstable)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tests::check::check;
use tokio::runtime::Builder;
use tokio::task::yield_now;
use tokio_statemap::report::{Report, Verdict};
use tokio_statemap::statemap::read::read;
use tokio_statemap::statemap::{Recording, recordings};
use tokio_statemap::timeline::Task;
use tokio_statemap::{Collector, CollectorConfig, Event, Hooks, Timeline, register_hooks_with};

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

/// One block in the first moments, then several times as many events as are kept. Returns the line of the block's
/// task, and how many events there were.
fn block_then_busy() -> (Arc<Collector>, u32, u64) {
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
        let others: Vec<_> =
            (0..4).map(|_| tokio::spawn(yields(6000, Duration::from_micros(50)))).collect();
        yields(1200, Duration::from_micros(50)).await;
        line = line!() + 1;
        tokio::spawn(async { std::thread::sleep(BLOCK) }).await.unwrap();
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
    let (collector, line, emitted) = block_then_busy();
    let timeline = collector.snapshot();
    assert_eq!(timeline.events + timeline.lost.total(), emitted, "each is kept or counted");
    assert_eq!(timeline.lost, collector.lost());
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

fn files_say_the_same(timeline: &Timeline, report: &Report) {
    let data = timeline.clone().to_data();
    let (tasks, workers) = (data.tasks_to_bytes().unwrap(), data.workers_to_bytes().unwrap());
    check(&tasks).unwrap();
    check(&workers).unwrap();
    let files = [read(&tasks[..]).unwrap(), read(&workers[..]).unwrap()];
    let recordings = recordings(&files);
    let [Recording::Run { timeline: again, .. }] = &recordings[..] else { panic!("another run") };
    assert_eq!(again.report().to_string(), report.to_string());
    assert_eq!(again.recent_ns, timeline.recent_ns);
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
            let (mut drained, mut stretches) = (0, 0);
            for round in 1.. {
                let timeline = collector.snapshot();
                assert!(timeline.events <= 60_000, "{}", timeline.events);
                stretches += timeline.stretches_before().count();
                if round % 32 == 0 {
                    let events = collector.drain_events();
                    assert!(events.is_sorted_by_key(Event::time_ns));
                    drained += events.len() as u64;
                }
                if ends.load(Ordering::Relaxed) {
                    break;
                }
            }
            (drained, stretches)
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
    let (drained, stretches) = drained;
    let timeline = collector.snapshot();
    let kept = timeline.events + timeline.lost.total();
    assert_eq!(drained + kept, emitted.load(Ordering::Relaxed));
    assert!(stretches > 0, "something was kept around the longest polls");
}
