use super::places::{MOST, OTHER};
use super::text::{escaped, seconds};
use crate::trace::event::SpawnLocation;
use crate::trace::summary::{Distribution, LocationSummary, Summary, SummedPoll, WorkerSummary};
use crate::trace::task_key::TaskKey;

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
