use super::Lately;
use super::places::{MOST, OTHER};
use super::text::{Text, escaped, seconds};
use crate::symbols::{FrameOrigin, StackFrame};
use crate::trace::event::SpawnLocation;
use crate::trace::summary::{Distribution, LocationSummary, Summary, SummedPoll, WorkerSummary};
use crate::trace::task_key::TaskKey;
use crate::trace::timeline::{AwaitFrame, Poll, PollSample, Task, Timeline, Wait};
use crate::trace::wait_id::WaitId;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

fn distribution(steps: &[(u64, u64)]) -> Distribution {
    let longest_ns = steps.last().map_or(0, |&(bound, _)| bound);
    Distribution { longest_ns, steps: steps.to_vec() }
}

/// A location whose polls have these lengths, all on workers.
fn location(file: &'static str, line: u32, steps: &[(u64, u64)]) -> LocationSummary {
    let sum = |from: u64| -> (u64, u64) {
        let longer = steps.iter().filter(|&&(ns, _)| ns > from);
        longer.fold((0, 0), |(polls, sum), &(ns, n)| (polls + n, sum + ns * n))
    };
    let ((polls, held_ns), (long_polls, long_polls_ns)) = (sum(0), sum(MS));
    LocationSummary {
        location: Some(SpawnLocation { file, line, column: 5 }),
        is_root: false,
        tasks: 3,
        worker_polls: polls,
        held_ns,
        off_worker_ns: 0,
        long_polls,
        long_polls_ns,
        polls: distribution(steps),
        ready: distribution(&[(5 * US, polls)]),
        ready_sum_ns: 5 * US * polls,
    }
}

fn summary(locations: Vec<LocationSummary>) -> Summary {
    Summary {
        begin_ns: 0,
        end_ns: 3_000 * MS,
        recorded_ns: 2_500 * MS,
        stopped: Vec::new(),
        tasks: locations.iter().map(|of| if of.is_root { 0 } else { of.tasks }).sum(),
        polls: locations.iter().map(|of| of.polls.count()).sum(),
        cut_polls: 0,
        live_tasks: Some(4),
        running_polls: 0,
        running: Vec::new(),
        missed_events: 0,
        locations,
        workers: Vec::new(),
        longest_polls: Vec::new(),
        stretch_ns: 1,
        stretches: Vec::new(),
    }
}

/// Returns the values of the samples of this name, each with its labels.
fn values<'a>(text: &'a str, name: &str) -> Vec<(&'a str, f64)> {
    let mut values = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (found, labels) = series.split_once('{').unwrap_or((series, ""));
        if found.strip_prefix("tokio_statemap_") == Some(name) {
            values.push((labels, value.parse().unwrap()));
        }
    }
    values
}

fn sum(text: &str, name: &str) -> f64 {
    values(text, name).iter().map(|(_, value)| value).sum()
}

#[test]
fn a_small_one() {
    let blocks = location("src/api.rs", 88, &[(20 * US, 2), (3 * MS, 1), (250 * MS, 1)]);
    let main = LocationSummary {
        location: Some(SpawnLocation { file: "src/main.rs", line: 7, column: 1 }),
        is_root: true,
        tasks: 1,
        worker_polls: 0,
        held_ns: 0,
        off_worker_ns: 8 * US,
        long_polls: 0,
        long_polls_ns: 0,
        polls: distribution(&[(8 * US, 1)]),
        ready: Distribution::default(),
        ready_sum_ns: 0,
    };
    let mut of = summary(vec![blocks, main]);
    // The poll of 250 ms still runs.
    of.running_polls = 1;
    of.running = vec![SummedPoll {
        task: TaskKey::Spawned(7),
        location: 0,
        start_ns: 0,
        length_ns: 250 * MS,
        worker: Some(1),
        is_cut: true,
    }];
    (of.missed_events, of.tasks) = (12, 3);
    let worker = |index| WorkerSummary {
        index,
        running_ns: 500 * MS,
        parked_ns: 2_000 * MS + 1,
        parks: 9,
        polls: 2,
    };
    of.workers = vec![worker(0), worker(1)];
    assert_eq!(of.prometheus(), include_str!("small.txt"));
}

#[test]
fn nothing_recorded() {
    let mut of = summary(Vec::new());
    of.live_tasks = None;
    assert_eq!(
        of.prometheus(),
        "# HELP tokio_statemap_recorded_seconds The time that was recorded.\n\
         # TYPE tokio_statemap_recorded_seconds counter\n\
         tokio_statemap_recorded_seconds_total 2.5\n\
         # HELP tokio_statemap_missed_events The events that are missing in these sums.\n\
         # TYPE tokio_statemap_missed_events counter\n\
         tokio_statemap_missed_events_total 0\n\
         # EOF\n"
    );
}

#[test]
fn the_other_locations_are_one_and_the_sums_are_whole() {
    let mut locations = Vec::new();
    for line in 1..=300 {
        let (short, long) = (u64::from(line % 9), 1 + u64::from(line % 4));
        let steps = [(30 * US, short), (900 * US, 2), (u64::from(400 - line) * MS, long)];
        locations.push(location("src/api.rs", line, &steps));
    }
    let mut of = summary(locations);
    // Of one of the 50, and of another.
    for place in [3, 120] {
        let longest = of.locations[place].polls.longest_ns;
        of.running.push(SummedPoll {
            task: TaskKey::Spawned(1),
            location: place,
            start_ns: 0,
            length_ns: longest,
            worker: None,
            is_cut: true,
        });
    }
    let text = of.prometheus();
    let polls = values(&text, "poll_seconds_count");
    assert_eq!(polls.len(), MOST + 1);
    assert_eq!(polls[MOST].0, format!("location=\"{OTHER}\"}}"));
    let total = |what: fn(&LocationSummary) -> u64| of.locations.iter().map(what).sum::<u64>();
    for (name, right) in [
        ("tasks_spawned_total", of.tasks),
        ("poll_seconds_count", of.polls - 2),
        ("ready_seconds_count", total(|of| of.ready.count())),
        ("long_polls_total", total(|of| of.long_polls)),
    ] {
        assert_eq!(sum(&text, name), right as f64, "{name}");
    }
    for (name, right_ns) in [
        ("held_seconds_total", total(|of| of.held_ns)),
        ("poll_seconds_sum", total(|of| of.held_ns)),
        ("long_poll_seconds_total", total(|of| of.long_polls_ns)),
        ("ready_seconds_sum", total(|of| of.ready_sum_ns)),
    ] {
        assert!((sum(&text, name) - right_ns as f64 / 1e9).abs() < 1e-6, "{name}");
    }
    let other = |name: &str| values(&text, name)[MOST].1;
    assert_eq!(other("longest_poll_seconds"), 0.349, "of the line 51");
    assert_eq!(other("running_poll_seconds"), 0.279, "of the line 121");
}

#[test]
fn buckets_add_up() {
    // A value on a bound is in its bucket.
    let steps =
        [(1, 1), (10 * US, 2), (10 * US + 1, 4), (MS, 8), (10_000 * MS, 16), (u64::MAX, 32)];
    let mut of = location("src/api.rs", 1, &steps[..5]);
    of.polls = distribution(&steps);
    let text = summary(vec![of]).prometheus();
    let buckets: Vec<_> =
        values(&text, "poll_seconds_bucket").iter().map(|(_, n)| *n as u64).collect();
    assert_eq!(buckets, [3, 7, 15, 15, 15, 15, 31, 63]);
    assert!(buckets.is_sorted());
    let (infinite, n) = values(&text, "poll_seconds_bucket")[7];
    assert!(infinite.ends_with("le=\"+Inf\"}"), "{infinite}");
    assert_eq!(n, values(&text, "poll_seconds_count")[0].1);
}

#[test]
fn a_poll_that_runs_counts_once_it_ended() {
    let of = |running: Option<u64>, steps: &[(u64, u64)]| {
        let mut of = summary(vec![location("src/api.rs", 1, steps)]);
        if let Some(length_ns) = running {
            of.running.push(SummedPoll {
                task: TaskKey::Spawned(1),
                location: 0,
                start_ns: 0,
                length_ns,
                worker: Some(0),
                is_cut: true,
            });
        }
        let text = of.prometheus();
        values(&text, "poll_seconds_bucket").iter().map(|(_, n)| *n as u64).collect::<Vec<_>>()
    };
    let before = of(None, &[(5 * US, 9)]);
    // Its step has the bound 2.01 ms, then 30.2 ms.
    let begun = of(Some(2 * MS), &[(5 * US, 9), (2_010 * US, 1)]);
    let later = of(Some(30 * MS), &[(5 * US, 9), (30_200 * US, 1)]);
    let ended = of(None, &[(5 * US, 9), (40 * MS, 1)]);
    assert_eq!((&begun, &later), (&before, &before));
    assert_eq!(ended, [9, 9, 9, 9, 10, 10, 10, 10]);
}

#[test]
fn locations_that_look_alike_are_told_apart() {
    let files = [
        "/root/.cargo/git/checkouts/axum-0c9c/ab12/src/lib.rs",
        "/root/.cargo/git/checkouts/axum-0c9c/cd34/src/lib.rs",
    ];
    let of = summary(files.map(|file| location(file, 1, &[(MS, 1)])).to_vec());
    let text = of.prometheus();
    let labels: Vec<_> = values(&text, "held_seconds_total").iter().map(|(of, _)| *of).collect();
    assert_eq!(
        labels,
        [
            "location=\"axum-0c9c/ab12/src/lib.rs:1:5\"}",
            "location=\"axum-0c9c/cd34/src/lib.rs:1:5\"}"
        ]
    );
}

#[test]
fn labels_are_escaped() {
    assert_eq!(escaped("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
    // Other invisible characters are escaped as everywhere.
    let of = summary(vec![location("src/\"odd\"\n\u{1b}[31m.rs", 1, &[(MS, 1)])]);
    let text = of.prometheus();
    let label = values(&text, "held_seconds_total")[0].0;
    assert_eq!(label, r#"location="src/\"odd\"\\n\\u{1b}[31m.rs:1:5"}"#);
    assert!(!text.chars().any(|c| c != '\n' && c.is_control()));
}

#[test]
fn seconds_are_exact() {
    for (ns, text) in [
        (0, "0.0"),
        (1, "0.000000001"),
        (1_500_000_000, "1.5"),
        (100_000_000_000, "100.0"),
        (u64::MAX, "18446744073.709551615"),
    ] {
        assert_eq!(seconds(ns), text);
    }
}

fn frame(function: &str, line: u32) -> StackFrame {
    let (function, file) = (function.into(), Some("src/shop.rs".into()));
    StackFrame { function, file, line: Some(line), origin: FrameOrigin::Program }
}

/// A task that waits at the place of this number since `since_ns`, or at one that isn't known.
fn waiting(id: u64, since_ns: u64, wait: Option<u16>) -> Task {
    let poll = Poll::open(since_ns - 1, 1, Some(0)).ended(since_ns);
    let location = Some(SpawnLocation { file: "src/shop.rs", line: 3, column: 9 });
    let polls = vec![poll.waits_at(wait.and_then(WaitId::new))];
    Task { location, ..Task::planted(TaskKey::Spawned(id), 0, polls) }
}

fn wait(function: &str, line: u32, awaits: &str) -> Wait {
    let awaited = StackFrame { origin: FrameOrigin::Runtime, ..frame(awaits, 1) };
    let awaits = AwaitFrame { function: awaited, awaits: Vec::new(), name: None, call: None };
    let function = frame(function, line);
    Wait { frames: vec![AwaitFrame { function, awaits: vec![awaits], name: None, call: None }] }
}

fn now(tasks: Vec<Task>, waits: Vec<Wait>) -> Timeline {
    let mut timeline = Timeline { end_ns: 900 * MS, tasks: tasks.into(), ..Timeline::empty() };
    timeline.places.waits = waits;
    timeline
}

#[test]
fn what_goes_on_is_told_by_function_and_line() {
    let mut ended = waiting(4, 300 * MS, Some(1));
    ended.terminated_ns = Some(310 * MS);
    let mut holds = waiting(5, 700 * MS, Some(2));
    holds.polls[0] = Poll::open(500 * MS, 2, Some(1)).ended(700 * MS);
    let tasks = vec![
        waiting(1, 100 * MS, Some(1)),
        waiting(2, 400 * MS, Some(1)),
        waiting(3, 850 * MS, Some(2)),
        ended,
        holds,
    ];
    let waits = vec![
        wait("async shop::checkout", 30, "tokio::sync::mutex::Mutex<T>::lock"),
        wait("async shop::\"load\"", 7, "tokio::time::sleep::Sleep"),
    ];
    let mut timeline = now(tasks, waits);
    let sample = |at_ns, function, line| PollSample {
        thread: 2,
        poll_start_ns: 500 * MS,
        at_ns,
        blocked_in: (line == 8).then(|| "read".to_owned()),
        frames: vec![frame(function, line)],
        is_complete: true,
    };
    // The last one stands for little of it.
    timeline.long_polls.samples =
        vec![sample(640 * MS, "shop::hash", 8), sample(650 * MS, "shop::log", 9)];
    let mut text = Text::new();
    Lately::from_timeline(&timeline).add(&mut text);
    let text = text.end();
    let lock = r#"function="shop::checkout",line="src/shop.rs:30",awaits="tokio::sync::mutex::Mutex<T>::lock"}"#;
    let sleep =
        r#"function="shop::\"load\"",line="src/shop.rs:7",awaits="tokio::time::sleep::Sleep"}"#;
    let unknown = r#"function="unknown",line="",awaits=""}"#;
    assert_eq!(values(&text, "tasks_waiting"), [(lock, 2.0), (unknown, 1.0), (sleep, 1.0)]);
    let longest = values(&text, "longest_wait_seconds");
    assert_eq!(longest, [(lock, 0.8), (unknown, 0.2), (sleep, 0.05)]);
    let hash = r#"function="shop::hash",line="src/shop.rs:8",location="src/shop.rs:3:9"}"#;
    assert_eq!(values(&text, "longest_poll_of_last_minute_seconds"), [(hash, 0.2)]);
}

#[test]
fn lines_beyond_the_most_are_one() {
    let (lines, waits) = (1..=60_u16, (1..=60).map(|line| wait("async f", line, "Sleep")));
    let tasks = lines.flat_map(|line| {
        // The first lines have more tasks than the others.
        let tasks = if line <= 10 { 2 } else { 1 };
        (0..tasks).map(move |n| waiting(u64::from(line) * 2 + n, MS, Some(line)))
    });
    let timeline = now(tasks.collect(), waits.collect());
    let mut text = Text::new();
    Lately::from_timeline(&timeline).add(&mut text);
    let text = text.end();
    let found = values(&text, "tasks_waiting");
    assert_eq!(found.len(), MOST + 1);
    assert_eq!(found[MOST], (r#"function="other",line="",awaits=""}"#, 10.0));
    assert_eq!(sum(&text, "tasks_waiting"), 70.0);
}
