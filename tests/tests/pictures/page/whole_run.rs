//! The page of a run far longer than the kept detail: its sums equal those counted by other hooks, and in a
//! browser it shows the whole run and the detail.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tests::page::{Sums, check, check_svg};
use tokio::runtime::Builder;
use tokio::task::yield_now;
use tokio_statemap::picture::Picture;
use tokio_statemap::{CollectorConfig, Hooks, Timeline, html, register_hooks_with};

use super::{expect, folder, labels, test, write};

const BLOCK: Duration = Duration::from_millis(150);
/// Shorter than the block, and longer than delays caused by other programs on the machine.
const LONG_POLL: Duration = Duration::from_millis(100);
const MAX_EVENTS: usize = 40_000;
const WORKERS: usize = 2;
/// The number of tasks that wait while the others are busy, and then no more.
const WAITING: usize = 60;

/// The observations of the program's own hooks, with their times.
#[derive(Debug, Default)]
struct Seen {
    polls: Vec<Instant>,
    spawned: Vec<Instant>,
    terminated: Vec<Instant>,
}

struct Run {
    timeline: Timeline,
    seen: Seen,
    /// The times between which recording started.
    started: [Instant; 2],
    /// The line of the task that blocks, and its minimum time.
    line: u32,
    block: Duration,
}

async fn yields(polls: u32, work: Duration) {
    for _ in 0..polls {
        let until = Instant::now() + work;
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        yield_now().await;
    }
}

/// Runs a program whose task blocks at the start; then it produces several times as many events as are kept.
fn run(block: Duration) -> Run {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let note = |to: fn(&mut Seen) -> &mut Vec<Instant>| {
        let seen = Arc::clone(&seen);
        move |_: &tokio::runtime::TaskMeta<'_>| to(&mut seen.lock().unwrap()).push(Instant::now())
    };
    let hooks = Hooks::new()
        .on_before_task_poll(note(|seen| &mut seen.polls))
        .on_task_spawn(note(|seen| &mut seen.spawned))
        .on_task_terminate(note(|seen| &mut seen.terminated));
    let mut builder = Builder::new_multi_thread();
    let config = CollectorConfig {
        max_events: MAX_EVENTS,
        long_poll: LONG_POLL,
        ..CollectorConfig::default()
    };
    let collector =
        register_hooks_with(builder.worker_threads(WORKERS).enable_all(), config, hooks).unwrap();
    let runtime = builder.build().unwrap();
    let before = Instant::now();
    collector.start();
    let started = [before, Instant::now()];
    let mut line = 0;
    runtime.block_on(async {
        let began = Instant::now();
        let others: Vec<_> =
            (0..4).map(|_| tokio::spawn(yields(400, Duration::from_micros(500)))).collect();
        tokio::time::sleep(Duration::from_millis(60)).await;
        line = line!() + 1;
        tokio::spawn(async move { std::thread::sleep(block) }).await.unwrap();
        for other in others {
            other.await.unwrap();
        }
        let busy: Vec<_> = (0..8).map(|_| tokio::spawn(yields(8000, Duration::ZERO))).collect();
        for task in busy {
            task.await.unwrap();
        }
        let waiting: Vec<_> =
            (0..WAITING).map(|_| tokio::spawn(std::future::pending::<()>())).collect();
        let busy: Vec<_> = (0..8).map(|_| tokio::spawn(yields(8000, Duration::ZERO))).collect();
        for task in busy {
            task.await.unwrap();
        }
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
        let busy: Vec<_> = (0..8).map(|_| tokio::spawn(yields(8000, Duration::ZERO))).collect();
        for task in busy {
            task.await.unwrap();
        }
        // Workers that are busy all the time would be the verdict.
        tokio::time::sleep(began.elapsed() / 4).await;
    });
    drop(runtime);
    collector.stop();
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    Run { timeline: collector.snapshot(), seen, started, line, block }
}

/// Returns a run whose longest poll is the block, with the detail around it. A busy machine may delay another
/// poll for longer, so the block is longer in each further run; and if the evicted events aren't examined in
/// time, no detail around it is kept.
fn run_with_the_block() -> Run {
    const ATTEMPTS: u32 = 40;
    let mut others = Vec::new();
    for attempt in 0..ATTEMPTS {
        let run = run(BLOCK + attempt * BLOCK / 2);
        let whole = run.timeline.whole_run().unwrap();
        let is_block =
            |location: usize| whole.locations[location].location.unwrap().line == run.line;
        let block = whole.longest_polls.iter().find(|poll| is_block(poll.location));
        let block = block.expect("it is among the longest");
        assert!(block.length_ns >= run.block.as_nanos() as u64);
        let is_kept =
            run.timeline.stretches_before().any(|(from, to)| (from..to).contains(&block.start_ns));
        if is_kept && is_block(whole.longest_polls[0].location) {
            return run;
        }
        let longest = Duration::from_nanos(whole.longest_polls[0].length_ns);
        others.push(format!("kept: {is_kept}, the longest poll: {longest:?}"));
    }
    panic!("in none of {ATTEMPTS} runs the block is kept, and the longest poll: {others:#?}")
}

#[test]
fn sums_equal_those_of_other_hooks() {
    let Run { timeline, seen, started, .. } = run(BLOCK);
    let mut bytes = Vec::new();
    html::write(&Picture::of_timeline(&timeline, &labels("sums")), &mut bytes).unwrap();
    let page = check(&bytes).unwrap();
    let sums = Sums::from_meta(&page.meta).expect("the run is longer than what is kept");
    assert_eq!((sums.from, sums.workers), (0, WORKERS as u64));
    assert_eq!(sums.polls.iter().sum::<u64>(), seen.polls.len() as u64);
    assert_eq!(sums.tasks_of_places.iter().sum::<u64>(), seen.spawned.len() as u64);
    assert_eq!(sums.alive.last(), Some(&0));
    assert!(*sums.alive.iter().max().unwrap() >= WAITING as u64);
    assert!(sums.longest.iter().any(|&longest| longest >= BLOCK.as_nanos() as u64));
    // At each time, the program's hooks have counted at most as many events as the recording, because they are
    // called later, and lack at most the latest event of each thread. The clocks may differ by this much.
    let clocks = Duration::from_micros(200);
    let threads = WORKERS as u64 + 1;
    let mut recorded = 0;
    for (k, (&polls, &alive)) in sums.polls.iter().zip(&sums.alive).enumerate() {
        recorded += polls;
        let ns = sums.stretch * (k as u64 + 1);
        let [least, most] = [started[0] - clocks, started[1] + clocks];
        let bounds = |of: &[Instant]| {
            let by =
                |zero: Instant| of.partition_point(|&at| at <= zero + Duration::from_nanos(ns));
            (by(least) as u64, by(most) as u64 + threads)
        };
        let (from, to) = bounds(&seen.polls);
        assert!((from..=to).contains(&recorded), "{k}: {from} {recorded} {to}");
        let ((from, to), (ended_from, ended_to)) =
            (bounds(&seen.spawned), bounds(&seen.terminated));
        let is_within = alive + ended_to >= from && alive + ended_from <= to;
        assert!(
            is_within,
            "{k}: {from} to {to} spawned, {ended_from} to {ended_to} ended, {alive}"
        );
    }
    let mut svg = Vec::new();
    timeline.write_svg(&mut svg).unwrap();
    check_svg(&svg).unwrap();
    let svg = String::from_utf8(svg).unwrap();
    assert!(svg.contains("id=\"strip\"") && svg.contains("In sums only: "));
}

#[test]
#[ignore = "slow: needs a browser"]
fn the_whole_run_is_shown() {
    let folder = folder("whole-run");
    let Run { timeline, seen, line, block, .. } = run_with_the_block();
    write(&folder, "run.html", &timeline, &labels("run"));
    let whole = timeline.whole_run().unwrap();
    let location = whole.locations[whole.longest_polls[0].location].location.unwrap();
    assert_eq!(location.line, line);
    let expected = json!({
        "block": block.as_nanos() as u64,
        "blocked": location.to_string(),
        "polls": seen.polls.len(),
        "recent": timeline.recent_ns,
    });
    expect(&folder, "run.json", &expected);
    test("whole-run", Path::new("browser/whole_run.test.mjs"));
}
