//! The sums as metrics: two parsers read the same, and no counter goes back from one scrape to the next.
#![cfg(tokio_unstable)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::load::spin;
use tests::python;
use tests::runtime::{builder, recorded};
use tokio::task::yield_now;
use tokio_statemap::CollectorConfig;

const TARGET: &str = env!("CARGO_TARGET_TMPDIR");

/// Returns the values of all samples by their series: the name, and the labels in braces.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (series, value) = line.rsplit_once(' ').expect("a series and a value");
            (series.to_owned(), value.parse().expect("a number"))
        })
        .collect()
}

fn sum(samples: &BTreeMap<String, f64>, name: &str) -> f64 {
    let of = samples.iter().filter(|(series, _)| series.split('{').next() == Some(name));
    of.map(|(_, value)| value).sum()
}

#[test]
fn two_parsers_read_the_same() {
    let Some(python) = python::python(Path::new(TARGET), "the metrics", "prometheus_client") else {
        return;
    };
    let (collector, runtime) = recorded(builder(2), CollectorConfig::default());
    collector.block_on(&runtime, async {
        for _ in 0..20 {
            tokio::spawn(yield_now()).await.unwrap();
        }
        tokio::spawn(async { spin(Duration::from_millis(2)) }).await.unwrap();
    });
    drop(runtime);
    let (summary, text) = (collector.summary(), collector.prometheus());
    let folder = Path::new(TARGET).join("metrics");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("metrics.txt"), &text).unwrap();
    let read = python::run(&python, "read_metrics.py", Path::new("metrics.txt"), &folder);
    let samples = samples(&text);
    for format in ["text", "openmetrics"] {
        let found: BTreeMap<String, f64> =
            serde_json::from_value(read[format]["samples"].clone()).unwrap();
        assert_eq!(found, samples, "{format}");
    }
    let types = &read["openmetrics"]["types"];
    for (family, kind) in
        [("held_seconds", "counter"), ("tasks_alive", "gauge"), ("poll_seconds", "histogram")]
    {
        assert_eq!(types[format!("tokio_statemap_{family}")], Value::from(kind));
    }
    let of = |name: &str| sum(&samples, &format!("tokio_statemap_{name}"));
    assert_eq!(of("poll_seconds_count"), summary.polls as f64);
    assert_eq!(of("tasks_spawned_total"), 21.0);
    assert_eq!(of("tasks_alive"), 0.0);
    assert!(of("longest_poll_of_last_minute_seconds") >= 0.002, "{text}");
    assert_eq!((of("tasks_waiting"), of("dumps_total")), (0.0, 0.0));
    assert!(of("long_polls_total") >= 1.0 && of("longest_poll_seconds") >= 0.002, "{text}");
}

/// Prometheus takes a counter that goes back for a restart, and adds all of it to a rate.
#[test]
#[ignore = "slow: scrapes for three seconds"]
fn no_counter_goes_back() {
    let (collector, runtime) = recorded(builder(2), CollectorConfig::default());
    // It is idle while its sums are scraped. Lengths in ns depend on the rate of the clock, which gets better known.
    runtime.block_on(runtime.spawn(async { spin(Duration::from_millis(600)) })).unwrap();
    runtime.spawn(async {
        loop {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    });
    // Polls of all lengths are seen while they run.
    runtime.spawn(async {
        for ms in (0..).map(|n| n % 13 * 4) {
            sleep(Duration::from_millis(ms));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    // From then on the rate stays the same.
    sleep(Duration::from_secs(1));
    let (began, mut scrapes, mut running) = (Instant::now(), 0, 0);
    let mut before: BTreeMap<String, f64> = BTreeMap::new();
    while began.elapsed() < Duration::from_secs(3) {
        let summary = collector.summary();
        let now = samples(&summary.prometheus());
        for (series, value) in &before {
            let is_gauge = ["tasks_alive", "running_poll_seconds"]
                .iter()
                .any(|gauge| series.starts_with(&format!("tokio_statemap_{gauge}")));
            assert!(is_gauge || now[series] >= *value, "{series}: {value}, then {}", now[series]);
        }
        assert_eq!(
            sum(&now, "tokio_statemap_poll_seconds_count"),
            (summary.polls - summary.running_polls) as f64
        );
        assert_eq!(summary.running.len() as u64, summary.running_polls);
        (before, scrapes, running) = (now, scrapes + 1, running + summary.running_polls);
        sleep(Duration::from_millis(5));
    }
    assert_eq!(before["tokio_statemap_tasks_alive"], 2.0);
    assert!(scrapes > 20 && running > 10, "{scrapes} {running}");
    runtime.shutdown_background();
}
