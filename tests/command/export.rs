//! `render` for other tools: stacks for inferno, a table as CSV; and the data that is refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tests::{planted, real};
use tokio_statemap::Timeline;
use tokio_statemap::statemap::read::read;
use tokio_statemap::statemap::{Labels, Recording, StatemapData, recordings};
use tokio_statemap::timeline::Poll;

use super::binary::{folder, names_in, run, tasks, workers};

/// Writes the data of `timeline` into `folder`, and reads it from there.
pub(super) fn write(folder: &Path, timeline: &Timeline) -> Timeline {
    let labels = Labels { title: "api".to_owned(), host: Some("box".to_owned()) };
    let data = StatemapData::new(timeline.clone(), labels);
    fs::write(folder.join("tasks.json"), data.tasks_to_bytes().unwrap()).unwrap();
    fs::write(folder.join("workers.json"), data.workers_to_bytes().unwrap()).unwrap();
    let files = ["tasks.json", "workers.json"]
        .map(|name| read(&fs::read(folder.join(name)).unwrap()[..]).unwrap());
    match recordings(&files).pop() {
        Some(Recording::Run { timeline, .. }) => *timeline,
        other => panic!("{other:?}"),
    }
}

/// Returns the time for which a poll held its worker, or ran off the workers.
pub(super) fn held_ns(timeline: &Timeline, poll: &Poll) -> u64 {
    match poll.worker() {
        Some(_) => timeline.held_ns(poll),
        None => poll.length_ns(timeline.end_ns),
    }
}

/// Returns the lines of folded stacks, and their weights.
fn folded(text: &str) -> Vec<(&str, u64)> {
    let lines = text.lines().map(|line| line.rsplit_once(' ').unwrap());
    lines.map(|(stack, weight)| (stack, weight.parse().unwrap())).collect()
}

#[test]
fn inferno_draws_the_stacks() {
    for (name, timeline) in [("blocked", planted::blocked()), ("real", real::run())] {
        let folder = folder(&format!("folded_{name}"));
        let timeline = write(&folder, &timeline);
        run(&folder, "render tasks.json workers.json -o out.folded").stdout();
        let text = fs::read_to_string(folder.join("out.folded")).unwrap();
        let sum: u64 = folded(&text).iter().map(|(_, ns)| ns).sum();
        let polls = timeline.tasks.iter().flat_map(|task| &task.polls);
        let held: u64 = polls.map(|poll| held_ns(&timeline, poll)).sum();
        assert!(sum > 0 && sum <= held, "{sum} {held}");
        if name == "blocked" {
            assert_eq!(sum, held, "nothing was taken of it");
        }
        let mut options = inferno::flamegraph::Options::default();
        options.count_name = "ns".to_owned();
        let mut drawn = Vec::new();
        inferno::flamegraph::from_lines(&mut options, text.lines(), &mut drawn).unwrap();
        let drawn = String::from_utf8(drawn).unwrap();
        let digits: String = drawn
            .split("<title>all (")
            .nth(1)
            .and_then(|rest| rest.split(" ns").next())
            .unwrap()
            .chars()
            .filter(char::is_ascii_digit)
            .collect();
        assert_eq!(digits, sum.to_string(), "inferno took all of it");
    }
}

/// Returns the fields of a line without quotes.
fn fields(line: &str) -> Vec<&str> {
    line.split(',').collect()
}

#[test]
fn each_poll_is_a_line_of_csv() {
    let folder = folder("csv");
    let timeline = write(&folder, &planted::blocked());
    let text = run(&folder, "render tasks.json workers.json --format csv -o -").stdout();
    assert!(text.ends_with("\r\n") && !text.contains('"'));
    let mut lines = text.split_terminator("\r\n").map(fields);
    let header = lines.next().unwrap();
    let rows: Vec<BTreeMap<&str, &str>> = lines
        .map(|line| {
            assert_eq!(line.len(), header.len());
            header.iter().copied().zip(line).collect()
        })
        .collect();
    let polls = timeline.tasks.iter().flat_map(|task| task.polls.iter().map(move |p| (task, p)));
    let polls: Vec<_> = polls.collect();
    assert_eq!(rows.len(), polls.len());
    for (row, (task, poll)) in rows.iter().zip(&polls) {
        let number = |number: u64| number.to_string();
        assert_eq!((row["run"], row["host"]), ("api", "box"));
        assert_eq!(row["task"], task.key.to_string());
        let location = task.location.map_or_else(String::new, |location| location.to_string());
        assert!(row["spawn_location"].starts_with(&location), "{row:?}");
        assert_eq!(row["worker"], poll.worker().map_or_else(String::new, |w| w.to_string()));
        assert_eq!(row["start_ns"], number(poll.start_ns()));
        assert_eq!(row["held_ns"], number(held_ns(&timeline, poll)));
    }
    let longest = rows.iter().max_by_key(|row| row["held_ns"].parse::<u64>().unwrap()).unwrap();
    assert_eq!(longest["spawn_location"], planted::BLOCKS.to_string());
    let first = rows.iter().find(|row| row["task"] == "task-1").unwrap();
    assert_eq!(first["ready_ns"], "1020000", "since its spawn");
}

#[test]
fn each_kind_of_span_is_a_line_of_csv() {
    let folder = folder("csv_requests");
    write(&folder, &planted::blocked());
    let text = run(&folder, "render --requests tasks.json workers.json --format csv -o -").stdout();
    assert!(text.starts_with("run,runtime,host,name,fields,target,count,"), "{text}");
    assert_eq!(text.lines().count(), 1, "it has none: {text}");
}

#[test]
fn whom_the_report_blames_is_in_the_table() {
    let folder = folder("csv_real");
    let timeline = write(&folder, &real::run());
    run(&folder, "render tasks.json workers.json -o out.csv").stdout();
    let text = fs::read_to_string(folder.join("out.csv")).unwrap();
    let report = timeline.report();
    let frames = report.blame.culprits.iter().filter_map(|culprit| culprit.frame.as_ref());
    for frame in frames {
        let line = frame.line.map(|line| line.to_string()).unwrap_or_default();
        let function = &*frame.function;
        let is_told =
            text.lines().any(|row| row.contains(function) && row.contains(&format!(",{line},")));
        assert!(is_told, "{function} {line}: {text}");
    }
}

#[test]
fn what_cannot_be_exported_is_said() {
    let folder = folder("export_refused");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    fs::write(folder.join("workers.json"), workers()).unwrap();
    let others = r#"{"start":[0,0],"title":"cpus","states":{"idle":{"value":0},"busy":{"value":1}}}
{"time":"0","entity":"cpu-0","state":0}
{"time":"70","entity":"cpu-0","state":1}
"#;
    fs::write(folder.join("cpus.json"), others).unwrap();
    for (args, said) in [
        ("cpus.json -o out.csv", "cpus.json: this isn't the data of a run"),
        ("tasks.json cpus.json -o out.folded", "cpus.json: this isn't the data of a run"),
        ("workers.json -o out.csv", "workers.json: this has workers only"),
        ("tasks.json -o nowhere/out.csv", "nowhere/out.csv: can't be written"),
    ] {
        let ended = run(&folder, &format!("render {args}"));
        assert_eq!(ended.status, Some(1), "{args}: {ended:?}");
        assert!(ended.stderr.contains(said) && ended.stderr.lines().count() == 1, "{ended:?}");
    }
    for (args, said) in [
        ("--format parquet -o -", "a folder of tables"),
        ("--requests -o out.svg", "`--requests` is for CSV: write a .csv, or leave it out"),
    ] {
        let ended = run(&folder, &format!("render tasks.json {args}"));
        assert_eq!(ended.status, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(said), "{ended:?}");
    }
    assert_eq!(names_in(&folder), ["cpus.json", "tasks.json", "workers.json"]);
}
