//! `render -o x.pftrace`: Perfetto shows the recorded run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::json;
use tests::pftrace::{Argument, Slice, Trace};
use tests::{planted, python, real};
use tokio_statemap::timeline::{Poll, TaskKey};
use tokio_statemap::{TaskState, Timeline, WokenBy, WorkerState};

use super::binary::{folder, run, tasks, workers};
use super::export::{held_ns, write};

fn render(folder: &Path, args: &str) -> Trace {
    run(folder, &format!("render {args} -o out.pftrace")).stdout();
    Trace::read(&fs::read(folder.join("out.pftrace")).unwrap())
}

/// Returns the slices of the tracks whose path ends so, by time.
fn slices<'a>(trace: &'a Trace, end: &str) -> Vec<&'a Slice> {
    let mut found = trace.tracks.iter().filter(|(id, _)| trace.path(**id).ends_with(end));
    let (track, _) = found.next().unwrap_or_else(|| panic!("no track {end}"));
    assert!(found.next().is_none(), "{end}");
    trace.slices_of(*track).collect()
}

fn text<'a>(slice: &'a Slice, argument: &str) -> Option<&'a str> {
    match slice.arguments.get(argument) {
        Some(Argument::Text(text)) => Some(text),
        None => None,
        other => panic!("{argument}: {other:?}"),
    }
}

fn number(slice: &Slice, argument: &str) -> Option<u64> {
    match slice.arguments.get(argument) {
        Some(Argument::Number(number)) => Some(*number),
        None => None,
        other => panic!("{argument}: {other:?}"),
    }
}

fn programs() -> Vec<(String, Timeline)> {
    let mut programs = vec![
        ("blocked".to_owned(), planted::blocked()),
        ("two_culprits".to_owned(), planted::two_culprits()),
        ("ties".to_owned(), planted::ties()),
        ("nearly".to_owned(), planted::nearly()),
        ("healthy".to_owned(), planted::healthy()),
        ("real".to_owned(), real::run()),
    ];
    programs.extend((1..12).map(|seed| (format!("random {seed}"), planted::random(60, seed))));
    programs
}

#[test]
fn the_trace_has_each_state_poll_and_flow() {
    let folder = folder("perfetto");
    let mut wakes = 0;
    for (name, timeline) in programs() {
        let timeline = write(&folder, &timeline);
        let trace = render(&folder, "tasks.json workers.json");
        println!("{name}");
        assert_eq!(u128::from(trace.start_ns), timeline.utc_at_zero.as_nanos());
        states(&trace, &timeline);
        on_workers(&trace, &timeline);
        wakes += flows(&trace, &timeline);
        counters(&trace, &timeline);
        blamed(&trace, &timeline);
    }
    assert!(wakes > 0);
}

/// Checks that the tracks of tasks have their states.
fn states(trace: &Trace, timeline: &Timeline) {
    let within = |ns: u64| ns.clamp(timeline.begin_ns, timeline.end_ns);
    for task in timeline.tasks.iter() {
        let name = timeline.task_name(task.key);
        let found: Vec<_> = slices(trace, &format!(" / {name}"))
            .into_iter()
            .filter(|slice| slice.name != "spawn" && slice.name != "wake")
            .map(|slice| (slice.name.as_str(), slice.time_ns))
            .collect();
        let spans = task.spans(timeline.end_ns).filter(|span| span.state != TaskState::Completed);
        let expected: Vec<_> = spans
            .map(|span| {
                let name = match span.state {
                    TaskState::Running => "poll",
                    state => state.name(),
                };
                (name, (within(span.start_ns), within(span.end_ns)))
            })
            .collect();
        assert_eq!(found, expected, "{name}");
    }
}

/// Checks that the tracks of workers have their states, and each poll for as long as it held the worker.
fn on_workers(trace: &Trace, timeline: &Timeline) {
    for worker in &timeline.workers {
        let name = timeline.worker_name(worker.index);
        let found: Vec<_> = slices(trace, &format!("Workers / {name}"))
            .iter()
            .map(|slice| (slice.name.as_str(), slice.time_ns))
            .collect();
        let spans = worker.spans(timeline.end_ns).filter(|s| s.state != WorkerState::Stopped);
        let expected: Vec<_> =
            spans.map(|span| (span.state.name(), (span.start_ns, span.end_ns))).collect();
        assert_eq!(found, expected, "{name}");

        let mut found: Vec<_> = slices(trace, &format!("polls on {name}"))
            .iter()
            .map(|slice| {
                assert_eq!(number(slice, "worker"), Some(worker.index.into()));
                (slice.time_ns, text(slice, "task").unwrap().to_owned())
            })
            .collect();
        let polls =
            timeline.tasks.iter().flat_map(|task| task.polls.iter().map(move |p| (task, p)));
        let mut expected: Vec<_> = polls
            .filter(|(_, poll)| poll.worker() == Some(worker.index))
            .map(|(task, poll)| {
                let time = (poll.start_ns(), poll.start_ns() + timeline.held_ns(poll));
                (time, timeline.task_name(task.key))
            })
            .collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{name}");
    }
}

/// Checks the flows: from where a task became ready to its poll, from its spawn to itself, and from a wake to where it became
/// ready. Returns the number of wakes.
fn flows(trace: &Trace, timeline: &Timeline) -> usize {
    let flows = trace.flows();
    let (mut into_polls, mut into_tasks, mut wakes) = (0, 0, 0);
    for (from, to) in flows {
        let (from, to) = (&trace.slices[from], &trace.slices[to]);
        match from.name.as_str() {
            "ready" | "spawned" => {
                into_polls += 1;
                let task = &trace.tracks[&from.track].name;
                assert_eq!(text(to, "task"), Some(task.as_str()));
                assert_eq!(from.time_ns.1, to.time_ns.0, "{from:?} {to:?}");
            }
            "spawn" => {
                into_tasks += 1;
                assert_eq!((to.name.as_str(), to.time_ns.0), ("spawned", from.time_ns.0));
            }
            "wake" => {
                wakes += 1;
                let named = |name: &str| {
                    timeline.tasks.iter().find(|task| timeline.task_name(task.key) == name)
                };
                let woken = named(&trace.tracks[&to.track].name).unwrap();
                let by = named(&trace.tracks[&from.track].name).unwrap();
                let mut polls = woken.polls.iter();
                let poll = polls.find(|poll| poll.start_ns() == to.time_ns.1).unwrap();
                assert_eq!(poll.woken_by(), Some(WokenBy::Task(by.key)));
                let at = from.time_ns.0;
                let is_polled = |poll: &Poll| {
                    poll.start_ns() <= at && poll.end_ns().is_none_or(|end| at <= end)
                };
                assert!(by.polls.iter().any(is_polled), "{by:?} {at}");
                assert_eq!(to.name, "ready");
            }
            other => panic!("a flow from {other}"),
        }
    }
    let follows = |states: &[TaskState]| match states {
        [before, TaskState::Running] => matches!(before, TaskState::Ready | TaskState::Spawned),
        _ => false,
    };
    let mut expected = (0, 0);
    for task in timeline.tasks.iter() {
        let states: Vec<_> = task.transitions().map(|(_, state)| state).collect();
        expected.0 += states.windows(2).filter(|states| follows(states)).count();
        let parent = task.parent.filter(|parent| timeline.tasks.iter().any(|t| t.key == *parent));
        let is_spawned = matches!(task.key, TaskKey::Spawned(_))
            && task.first_state == TaskState::Spawned
            && task.spawned_ns.is_some();
        expected.1 += usize::from(parent.is_some() && is_spawned);
    }
    assert_eq!((into_polls, into_tasks), expected);
    wakes
}

/// Checks that counters equal the counts of all tasks at that time.
fn counters(trace: &Trace, timeline: &Timeline) {
    let counters: BTreeMap<_, _> = trace
        .counters
        .iter()
        .map(|(track, values)| (trace.tracks[track].name.as_str(), values))
        .collect();
    let is_at = |from: u64, to: u64, at: u64| from <= at && (at < to || to >= timeline.end_ns);
    let spans = |wanted: &[TaskState], at: u64| -> u64 {
        let tasks = timeline.tasks.iter().filter(|t| matches!(t.key, TaskKey::Spawned(_)));
        let spans = tasks.flat_map(|task| task.spans(timeline.end_ns));
        let found = spans.filter(|span| {
            wanted.contains(&span.state)
                && span.start_ns < span.end_ns
                && is_at(span.start_ns, span.end_ns, at)
        });
        found.count() as u64
    };
    use TaskState::{Ready, Running, Spawned, Waiting};
    for &(at, value) in counters["tasks ready"] {
        assert_eq!(value, spans(&[Ready, Spawned], at), "ready at {at}");
    }
    for &(at, value) in counters["tasks alive"] {
        assert_eq!(value, spans(&[Ready, Spawned, Running, Waiting], at), "alive at {at}");
    }
    for &(at, value) in counters["workers busy"] {
        let workers = timeline.workers.iter().flat_map(|worker| worker.spans(timeline.end_ns));
        let busy = workers.filter(|span| {
            span.state == WorkerState::Running
                && span.start_ns < span.end_ns
                && is_at(span.start_ns, span.end_ns, at)
        });
        assert_eq!(value, busy.count() as u64, "busy at {at}");
    }
    for values in counters.values() {
        assert!(values.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1));
    }
}

/// Checks that long polls have the blamed line of the report, and their own time.
fn blamed(trace: &Trace, timeline: &Timeline) {
    let report = timeline.report();
    let mut expected: BTreeMap<(String, Option<u32>), u64> = BTreeMap::new();
    for culprit in &report.blame.culprits {
        let Some(frame) = &culprit.frame else { continue };
        *expected.entry((frame.function.to_string(), frame.line)).or_default() += culprit.own_ns;
    }
    let mut found: BTreeMap<(String, Option<u32>), u64> = BTreeMap::new();
    let on_workers =
        trace.slices.iter().filter(|s| trace.tracks[&s.track].name.starts_with("polls on "));
    let mut long = 0;
    for slice in on_workers {
        let length_ns = slice.time_ns.1 - slice.time_ns.0;
        let is_long = u128::from(length_ns) > timeline.settings.long_poll.as_nanos();
        assert_eq!(slice.category, if is_long { "long poll" } else { "poll" });
        long += usize::from(is_long);
        let Some(function) = text(slice, "blamed_function") else { continue };
        let line =
            text(slice, "blamed_line").and_then(|line| line.rsplit_once(':')?.1.parse().ok());
        *found.entry((function.to_owned(), line)).or_default() += number(slice, "own_ns").unwrap();
    }
    assert_eq!(found, expected);
    let polls = timeline.tasks.iter().flat_map(|task| &task.polls);
    let is_long = |ns: u64| u128::from(ns) > timeline.settings.long_poll.as_nanos();
    let expected = polls.filter(|p| p.worker().is_some() && is_long(held_ns(timeline, p))).count();
    assert_eq!(long, expected);
}

#[test]
fn several_runs_stand_on_one_scale() {
    let folder = folder("perfetto_several");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    fs::write(folder.join("workers.json"), workers()).unwrap();
    let later = tasks().replace("\"start\":[1000,0]", "\"start\":[1002,0]");
    fs::write(folder.join("later.json"), later).unwrap();
    let others = r#"{"start":[1001,0],"title":"cpus","states":{"idle":{"value":0},"busy":{"value":1}}}
{"state":1,"tag":"t","pid":7}
{"time":"0","entity":"cpu-0","state":0}
{"time":"70","entity":"cpu-0","state":1,"tag":"t"}
{"time":"90","entity":"cpu-0","state":0}
{"time":"80","entity":"cpu-0","event":"wake","target":"cpu-1"}
"#;
    fs::write(folder.join("cpus.json"), others).unwrap();
    let trace = render(&folder, "tasks.json workers.json later.json cpus.json --title both");
    assert_eq!(trace.start_ns, 1_000_000_000_000);
    let roots = trace.tracks.values().filter(|track| track.parent.is_none());
    let roots: Vec<_> = roots.map(|track| track.name.as_str()).collect();
    assert_eq!(roots, ["both", "both", "cpus"]);
    let cpu: Vec<_> = slices(&trace, "cpus / cpu-0")
        .into_iter()
        .map(|slice| (slice.name.as_str(), slice.time_ns, text(slice, "tag"), text(slice, "pid")))
        .collect();
    let s = 1_000_000_000;
    assert_eq!(
        cpu,
        [
            ("idle", (s, s + 70), None, None),
            ("busy", (s + 70, s + 90), Some("t"), Some("7")),
            ("wake", (s + 80, s + 80), None, None),
            ("idle", (s + 90, s + 90), None, None),
        ]
    );
    let starts: Vec<_> = trace
        .slices
        .iter()
        .filter(|slice| slice.name == "recorded")
        .map(|slice| slice.time_ns)
        .collect();
    assert_eq!(starts, [(0, 60_000_000), (2 * s, 2 * s + 60_000_000)]);
}

#[test]
fn perfetto_reads_the_same() {
    let what = "a trace, by Perfetto's schema";
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let module = "perfetto.protos.perfetto.trace.perfetto_trace_pb2";
    let Some(python) = python::python(target, what, module) else { return };
    let folder = folder("perfetto_python");
    for (name, timeline) in programs() {
        write(&folder, &timeline);
        let trace = render(&folder, "tasks.json workers.json");
        let read = python::run(&python, "read_trace.py", &folder.join("out.pftrace"), &folder);
        println!("{name}: {}", read["by"]);
        assert_eq!(read["summary"], trace.summary(), "{name}");
    }
}

/// Spans that overlap have a track each, and those that are outside of the data have none.
#[test]
fn the_longest_requests_are_slices_of_their_own() {
    let folder = folder("perfetto-requests");
    let timeline = write(&folder, &planted::blocked());
    let (begin, end) = (timeline.begin_ns, timeline.end_ns);
    let TaskKey::Spawned(id) = timeline.tasks.iter().last().unwrap().key else { panic!("spawned") };
    let parts = |ns: u64| json!([1, 10 * ns, ns, 2 * ns, 3 * ns, 3 * ns, ns, []]);
    let all = json!([3, 90, 9, 18, 27, 27, 9, []]);
    let row = json!(["request", "shop", "GET /", 3, [30, 30, 30, 30, 50], 90, 9, 9, all, parts(5)]);
    let spans = json!([
        [0, id, begin + 10, parts(5)],
        [0, null, begin + 40, parts(3)],
        [0, null, end + 1, parts(1)],
    ]);
    let path = folder.join("tasks.json");
    let data = fs::read_to_string(&path).unwrap();
    let part = "{\"tag\":\"tokio-statemap 1\",\"state\":3,";
    let members = format!("\"requests\":[{row}],\"requestSpans\":{spans},");
    let data = data.replacen(part, &format!("{part}{members}"), 1);
    let data = data.replacen("\"format\":1,", "\"format\":1,\"requests\":[0,0,0],", 1);
    fs::write(&path, data).unwrap();

    let trace = render(&folder, "tasks.json");
    let mut found = Vec::new();
    for (track, _) in
        trace.tracks.iter().filter(|(id, _)| trace.path(**id).contains("/ Requests /"))
    {
        assert!(
            trace.path(*track).ends_with("/ Requests / request GET /"),
            "{}",
            trace.path(*track)
        );
        let slices: Vec<_> = trace.slices_of(*track).collect();
        let [slice] = slices[..] else { panic!("{slices:?}") };
        assert_eq!((&*slice.name, &*slice.category), ("request GET /", "request"));
        let sum = ["running_ns", "ready_ns", "waiting_ns", "elsewhere_ns", "unknown_ns"]
            .map(|name| number(slice, name).unwrap());
        found.push((slice.time_ns, text(slice, "task").map(str::to_owned), sum));
    }
    let task = format!("task-{id}");
    assert_eq!(
        found,
        [
            ((begin + 10, begin + 60), Some(task), [5, 10, 15, 15, 5]),
            ((begin + 40, begin + 70), None, [3, 6, 9, 9, 3]),
        ]
    );
    let report = run(&folder, "report --requests tasks.json").stdout();
    assert!(
        report.contains(&format!("50 ns at {:.3} s in task-{id}: ", begin as f64 / 1e9)),
        "{report}"
    );
}
