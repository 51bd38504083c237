//! The questions of the guide to a fleet: fifty runs as Parquet, read by DuckDB and by DataFusion. The answers must be
//! those of the runs' reports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tests::{planted, python, real};
use tokio_statemap::report::Report;
use tokio_statemap::statemap::read::read;
use tokio_statemap::statemap::{Labels, Recording, StatemapData, recordings};
use tokio_statemap::{TaskState, Timeline};

use super::binary::binary;

const TARGET: &str = env!("CARGO_TARGET_TMPDIR");
const PODS: usize = 50;

/// A run, as read from its files.
struct Pod {
    timeline: Timeline,
    labels: Labels,
    report: Report,
}

/// Writes the data of a run, has the command make tables of it, and reads it again.
fn pod(command: &Path, folder: &Path, number: usize, mut timeline: Timeline) -> Pod {
    timeline.version = (number % 7 > 0).then(|| format!("1.{}", number % 3));
    let labels = Labels { title: "shop".to_owned(), host: Some(format!("pod-{}", number / 2)) };
    let data = StatemapData::new(timeline, labels);
    let data = [data.tasks_to_bytes().unwrap(), data.workers_to_bytes().unwrap()];
    let data = data.map(|bytes| with_requests(&bytes, number as u64));
    for (name, bytes) in ["tasks.json", "workers.json"].iter().zip(&data) {
        fs::write(folder.join(name), bytes).unwrap();
    }
    let output = format!("pods/{number}.parquet");
    let output = Command::new(command)
        .args(["render", "tasks.json", "workers.json", "-o", &output])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let files = data.map(|bytes| read(&bytes[..]).unwrap());
    match recordings(&files).pop() {
        Some(Recording::Run { timeline, labels, .. }) => {
            Pod { report: timeline.report(), timeline: *timeline, labels }
        }
        other => panic!("{other:?}"),
    }
}

/// Adds a table of requests to the data of a run, as the layer for spans would have recorded it. The file of the workers
/// only knows that there is one.
fn with_requests(data: &[u8], number: u64) -> Vec<u8> {
    let data = std::str::from_utf8(data).unwrap();
    let data = data.replacen("\"format\":1,", "\"format\":1,\"requests\":[0,0,0],", 1);
    let p99 = 1_000_000 + 1_000 * number;
    let none = json!([0, 0, 0, 0, 0, 0, 0, []]);
    let route = format!("GET /{}", number % 4);
    let times = [p99, p99, p99, p99, 2 * p99];
    let row = json!(["request", "shop", route, number + 1, times, p99, p99, p99, none, none]);
    let part = "{\"tag\":\"tokio-statemap 1\",\"state\":3,";
    data.replacen(part, &format!("{part}\"requests\":[{row}],"), 1).into_bytes()
}

#[test]
fn two_engines_answer_as_the_reports_do() {
    let what = "the questions to a fleet's files";
    let Some(python) = python::python(Path::new(TARGET), what, "datafusion, duckdb") else {
        return;
    };
    let folder = Path::new(TARGET).join("fleet");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let command = binary();
    let real: Vec<_> = (0..4).map(|_| real::run()).collect();
    let pods: Vec<_> = (0..PODS)
        .map(|number| {
            let mut timeline = match number % 5 {
                0 | 1 => real[number % 4].clone(),
                2 => planted::blocked(),
                3 => planted::two_culprits(),
                _ => planted::random(100, number as u64),
            };
            // The pods begin at different moments.
            timeline.utc_at_zero += std::time::Duration::from_secs(1_000 + number as u64);
            pod(command, &folder, number, timeline)
        })
        .collect();
    let guide =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tokio-statemap/src/guide/export.md");
    let answers = python::run(&python, "ask.py", &guide, &folder);
    let expected = [
        lines_that_blocked(&pods),
        hosts_by_what_was_taken(&pods),
        ready_by_location(&pods),
        waits(&pods),
        busy_by_version(&pods),
        slow_requests(&pods),
    ];
    assert!(expected.iter().all(|rows| rows.len() > 1), "{expected:?}");
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 2, "two engines answer");
    for (answers, engine) in answers.iter().zip(["DuckDB", "DataFusion"]) {
        let answers = answers.as_array().unwrap();
        assert_eq!(answers.len(), expected.len(), "each question of the guide is checked");
        for (answer, rows) in answers.iter().zip(&expected) {
            assert_eq!(answer, &json!(rows), "{engine}");
        }
    }
}

/// Version, function, file, line; polls, hosts, own time.
fn lines_that_blocked(pods: &[Pod]) -> Vec<Value> {
    type Key = (Option<String>, String, Option<String>, Option<u32>);
    let mut lines: BTreeMap<Key, (u64, BTreeSet<Option<String>>, u64)> = BTreeMap::new();
    for pod in pods {
        for culprit in &pod.report.blame.culprits {
            let Some(frame) = &culprit.frame else { continue };
            let file = frame.file.as_ref().map(|file| package_on(file).to_owned());
            let key = (pod.timeline.version.clone(), frame.function.to_string(), file, frame.line);
            let (polls, hosts, own_ns) = lines.entry(key).or_default();
            *polls += culprit.polls;
            hosts.insert(pod.labels.host.clone());
            *own_ns += culprit.own_ns;
        }
    }
    let mut lines: Vec<_> = lines.into_iter().collect();
    // The smaller comes first, and a missing version last, as in DuckDB.
    let last = |version: &Option<String>| (version.is_none(), version.clone());
    lines.sort_by_key(|((version, function, file, line), (_, _, own_ns))| {
        (u64::MAX - own_ns, last(version), function.clone(), file.clone(), *line)
    });
    lines.truncate(20);
    let rows =
        lines.into_iter().map(|((version, function, file, line), (polls, hosts, own_ns))| {
            json!([version, function, file, line, polls, hosts.len(), own_ns])
        });
    rows.collect()
}

/// Host; time taken, time recorded.
fn hosts_by_what_was_taken(pods: &[Pod]) -> Vec<Value> {
    let mut hosts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for pod in pods {
        let (taken, recorded) = hosts.entry(pod.labels.host.as_deref().unwrap()).or_default();
        *taken += pod.report.machine.run_delay_ns + pod.report.machine.stolen_ns;
        *recorded += pod.report.recording.recorded_ns;
    }
    let mut hosts: Vec<_> = hosts.into_iter().collect();
    hosts.sort_by_key(|(host, (taken, _))| (u64::MAX - taken, *host));
    let rows = hosts.into_iter().take(20);
    rows.map(|(host, (taken, recorded))| json!([host, taken, recorded])).collect()
}

/// Spawn location; polls with known ready times, the 99th percentile, the longest.
fn ready_by_location(pods: &[Pod]) -> Vec<Value> {
    let mut ready: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for pod in pods {
        for task in pod.timeline.tasks.iter() {
            for (i, poll) in task.polls.iter().enumerate() {
                // A task is ready from its spawn on.
                let is_first = i == 0 && task.first_state == TaskState::Spawned;
                let since = if is_first { Some(task.first_ns) } else { poll.ready_ns() };
                let Some(since) = since else { continue };
                let place = pod.report.locations.iter().map(|row| row.place).find(|place| {
                    let is_root = matches!(task.key, tokio_statemap::timeline::TaskKey::Root(_));
                    (place.location, place.is_root) == (task.location, is_root)
                });
                ready.entry(place.unwrap().to_string()).or_default().push(poll.start_ns() - since);
            }
        }
    }
    let mut rows: Vec<_> = ready
        .into_iter()
        .map(|(place, mut ready)| {
            ready.sort_unstable();
            // Between two values it lies on the line from one to the other.
            let at = (ready.len() - 1) as f64 * 0.99;
            let [low, high] = [at.floor(), at.ceil()].map(|index| ready[index as usize] as f64);
            let p99 = (low + (high - low) * at.fract()).round() as u64;
            (place, ready.len(), p99, ready[ready.len() - 1])
        })
        .collect();
    rows.sort_by_key(|(place, _, p99, _)| (u64::MAX - p99, place.clone()));
    rows.truncate(20);
    rows.into_iter().map(|(place, n, p99, longest)| json!([place, n, p99, longest])).collect()
}

/// Function, file, line, awaited future; waits, those at the end, the total time.
fn waits(pods: &[Pod]) -> Vec<Value> {
    type Key = (String, Option<String>, Option<u32>, Option<String>);
    let mut lines: BTreeMap<Key, (u64, u64, u128)> = BTreeMap::new();
    for row in pods.iter().flat_map(|pod| &pod.report.waits.lines) {
        let file = row.at.file.as_ref().map(|file| package_on(file).to_owned());
        let key = (row.at.function.to_string(), file, row.at.line, row.awaits.clone());
        let (waits, at_end, total_ns) = lines.entry(key).or_default();
        *waits += row.times;
        *at_end += row.now;
        *total_ns += row.total_ns;
    }
    let mut lines: Vec<_> = lines.into_iter().collect();
    let last = |text: &Option<String>| (text.is_none(), text.clone());
    lines.sort_by_key(|((function, file, line, awaits), (_, at_end, total_ns))| {
        let place = (function.clone(), last(file), line.is_none(), *line, last(awaits));
        (u64::MAX - at_end, u128::MAX - total_ns, place)
    });
    lines.truncate(20);
    let rows = lines.into_iter().map(|((function, file, line, awaits), (waits, now, total_ns))| {
        json!([function, file, line, awaits, waits, now, total_ns as u64])
    });
    rows.collect()
}

/// Returns a path from the package on, as it stands in tables.
fn package_on(path: &str) -> &str {
    let after = path.split_once("/registry/src/").and_then(|(_, rest)| rest.split_once('/'));
    after.map_or(path, |(_, rest)| rest)
}

/// Version; runs, running, parked.
fn busy_by_version(pods: &[Pod]) -> Vec<Value> {
    let mut versions: BTreeMap<Option<&str>, (u64, u64, u64)> = BTreeMap::new();
    for pod in pods {
        let (runs, running, parked) = versions.entry(pod.timeline.version.as_deref()).or_default();
        *runs += 1;
        *running += pod.report.workers.iter().map(|worker| worker.running_ns).sum::<u64>();
        *parked += pod.report.workers.iter().map(|worker| worker.parked_ns).sum::<u64>();
    }
    let mut rows: Vec<_> = versions.into_iter().collect();
    rows.sort_by_key(|(version, _)| (version.is_none(), *version));
    let rows = rows.into_iter();
    rows.map(|(version, (runs, running, parked))| json!([version, runs, running, parked])).collect()
}

/// Version, name, fields; spans, the largest 99th percentile, the longest.
fn slow_requests(pods: &[Pod]) -> Vec<Value> {
    type Key<'a> = (Option<&'a str>, &'a str, &'a str);
    let mut kinds: BTreeMap<Key<'_>, (u64, u64, u64)> = BTreeMap::new();
    for pod in pods {
        for row in &pod.timeline.requests().rows {
            let key = (pod.timeline.version.as_deref(), &*row.name, &*row.fields);
            let (spans, p99, longest) = kinds.entry(key).or_default();
            *spans += row.count;
            *p99 = row.times.p99_ns.max(*p99);
            *longest = row.times.longest_ns.max(*longest);
        }
    }
    let mut rows: Vec<_> = kinds.into_iter().collect();
    rows.sort_by_key(|((version, name, fields), (_, p99, _))| {
        (u64::MAX - p99, version.is_none(), *version, *name, *fields)
    });
    let rows = rows.into_iter().take(20);
    let row = |((version, name, fields), (spans, p99, longest))| {
        json!([version, name, fields, spans, p99, longest])
    };
    rows.map(row).collect()
}
