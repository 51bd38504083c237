//! Tests of the data of a timeline, byte by byte, and of data of other programs.

use std::time::Duration;

use super::check::check_ours;
use super::read::{ReadError, Statemap, read};
use super::{Labels, StatemapData};
use crate::config::TraceTarget;
use crate::trace::event::SpawnLocation;
use crate::trace::state::WorkerState;
use crate::trace::timeline::{Poll, Task, TaskKey, Timeline, Worker};
use crate::util::json;

pub(super) fn timeline(tasks: Vec<Task>, workers: Vec<Worker>) -> Timeline {
    Timeline {
        utc_at_zero: Duration::new(1_000, 5),
        end_ns: 1_000,
        tasks: tasks.into(),
        workers,
        ..Timeline::empty()
    }
}

pub(super) fn task(key: TaskKey, first_ns: u64, polls: Vec<Poll>) -> Task {
    Task::planted(key, first_ns, polls)
}

fn at(file: &'static str) -> Option<SpawnLocation> {
    Some(SpawnLocation { file, line: 3, column: 9 })
}

pub(super) fn poll(start_ns: u64, end_ns: u64) -> Poll {
    Poll::open(start_ns, 0, Some(0)).ended(end_ns)
}

pub(super) fn data(timeline: Timeline) -> StatemapData {
    let labels = Labels { title: "http".to_owned(), host: Some("box".to_owned()) };
    StatemapData::new(timeline, labels)
}

fn tasks(timeline: Timeline) -> String {
    String::from_utf8(data(timeline).tasks_to_bytes().unwrap()).unwrap()
}

fn read_tasks(timeline: Timeline) -> Statemap {
    read(tasks(timeline).as_bytes()).unwrap()
}

#[test]
fn the_tasks_of_a_small_timeline() {
    let main = task(TaskKey::Root(0), 0, vec![poll(0, 0)]);
    let spawned = Task {
        location: at("src/main.rs"),
        terminated_ns: Some(900),
        ..task(TaskKey::Spawned(7), 10, vec![poll(20, 30), poll(50, 900).ready(Some(40))])
    };
    let written = tasks(timeline(vec![main, spawned], Vec::new()));
    assert_eq!(
        written,
        r##"{"start":[1000,5],"title":"http: Tokio tasks","states":{"spawned":{"value":0,"color":"#FFB000"},"running":{"value":1,"color":"#DC267F"},"waiting":{"value":2,"color":"#FE6100"},"completed":{"value":3,"color":"#648FFF"},"ready":{"value":4,"color":"#785EF0"}},"host":"box","entityKind":"Task"}
{"tag":"tokio-statemap","state":3,"format":1,"program":"http","beginNs":0,"endNs":1000,"longPollNs":1000000,"events":0,"refusedEvents":0,"droppedEvents":0,"reentrantEvents":0,"traceTarget":"both","taskHooks":true,"scheduleLatency":true}
{"time":"0","entity":"main","state":0}
{"time":"1","entity":"main","state":1}
{"time":"2","entity":"main","state":2}
{"state":0,"tag":"src/main.rs:3:9","file":"src/main.rs","location":"3:9"}
{"time":"10","entity":"task-7","state":0,"tag":"src/main.rs:3:9"}
{"state":1,"tag":"src/main.rs:3:9","file":"src/main.rs","location":"3:9"}
{"time":"20","entity":"task-7","state":1,"tag":"src/main.rs:3:9"}
{"state":2,"tag":"src/main.rs:3:9","file":"src/main.rs","location":"3:9"}
{"time":"30","entity":"task-7","state":2,"tag":"src/main.rs:3:9"}
{"state":4,"tag":"src/main.rs:3:9","file":"src/main.rs","location":"3:9"}
{"time":"40","entity":"task-7","state":4,"tag":"src/main.rs:3:9"}
{"time":"50","entity":"task-7","state":1,"tag":"src/main.rs:3:9"}
{"time":"900","entity":"task-7","state":3}
{"tag":"tokio-statemap 1","state":3,"data":9,"ranOn":[[0,0]],"polls":[0,3],"parents":[[null,2]]}
{"time":"1000","entity":"main","state":2}
"##
    );
}

#[test]
fn the_workers_of_a_small_timeline() {
    let worker = |index, transitions| Worker { index, transitions, parks: 1 };
    let mut timeline = timeline(
        Vec::new(),
        vec![
            worker(0, vec![(0, WorkerState::Running), (7, WorkerState::Parked)]),
            worker(1, vec![(3, WorkerState::Parked), (2_000, WorkerState::Stopped)]),
        ],
    );
    timeline.runtime = Some("api".to_owned());
    let bytes = data(timeline).workers_to_bytes().unwrap();
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        r##"{"start":[1000,5],"title":"http: Tokio workers","states":{"running":{"value":0,"color":"#DC267F"},"parked":{"value":1,"color":"#FE6100"},"stopped":{"value":2,"color":"#648FFF"}},"host":"box","entityKind":"Worker"}
{"tag":"tokio-statemap","state":2,"format":1,"program":"http","runtime":"api","beginNs":0,"endNs":1000,"longPollNs":1000000,"events":0,"refusedEvents":0,"droppedEvents":0,"reentrantEvents":0,"traceTarget":"both","taskHooks":true,"scheduleLatency":true}
{"time":"0","entity":"api/worker-0","state":0}
{"time":"7","entity":"api/worker-0","state":1}
{"time":"3","entity":"api/worker-1","state":1}
{"time":"2000","entity":"api/worker-1","state":2}
{"tag":"tokio-statemap 1","state":2,"data":4,"parks":[1,1]}
{"time":"2001","entity":"api/worker-0","state":1}
"##
    );
}

#[test]
fn without_schedule_latency_there_is_no_fifth_state() {
    let mut timeline = timeline(vec![task(TaskKey::Root(0), 0, vec![])], Vec::new());
    timeline.settings.schedule_latency = false;
    let statemap = read_tasks(timeline);
    let names: Vec<_> = statemap.metadata.states.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["spawned", "running", "waiting", "completed"]);
}

#[test]
fn times_count_from_the_left_edge() {
    let mut timeline = timeline(
        vec![task(TaskKey::Root(0), 1_000_000_600, vec![poll(1_000_000_700, 1_000_000_800)])],
        Vec::new(),
    );
    timeline.begin_ns = 1_000_000_600;
    timeline.end_ns = 1_000_001_600;
    let statemap = read_tasks(timeline);
    assert_eq!(statemap.metadata.start, [1_001, 605]);
    let times: Vec<_> = statemap.entities[0].data.iter().map(|d| d.time_ns).collect();
    assert_eq!(times, [0, 100, 200, 1_000]);
}

#[test]
fn equal_times_are_pushed_apart_and_the_end_is_the_latest() {
    let polls = vec![poll(1_000, 1_000), poll(1_000, 1_000), poll(1_000, 1_000)];
    let life = Task { terminated_ns: Some(1_000), ..task(TaskKey::Spawned(1), 1_000, polls) };
    let statemap = read_tasks(timeline(vec![life], Vec::new()));
    let times: Vec<_> = statemap.entities[0].data.iter().map(|d| d.time_ns).collect();
    assert_eq!(times, [1_000, 1_001, 1_002, 1_003, 1_004, 1_005, 1_006, 1_007]);
    let states: Vec<_> = statemap.entities[0].data.iter().map(|d| d.state).collect();
    assert_eq!(states, [0, 1, 2, 1, 2, 1, 3, 3]);
}

#[test]
fn titles_say_what_is_not_known() {
    let title = |change: &dyn Fn(&mut Timeline)| {
        let mut timeline = timeline(Vec::new(), Vec::new());
        change(&mut timeline);
        read_tasks(timeline).metadata.title
    };
    assert_eq!(title(&|_| {}), "http: Tokio tasks");
    assert_eq!(
        title(&|t| {
            t.settings.task_hooks = false;
            t.lost.refused_events = 1234;
            t.gaps = vec![(1, 2), (5, 6)];
        }),
        "http: Tokio tasks (workers only) (1234 events lost: max_events) (2 gaps)"
    );
    assert_eq!(
        title(&|t| t.settings.trace_target = TraceTarget::Workers),
        "http: Tokio tasks (not recorded)"
    );
}

#[test]
fn hostile_names_come_back_as_they_were() {
    let nasty = "a\"b\\c\n\t\u{0}\u{7f}\u{2028}<&]]>'é.rs";
    let mut timeline = timeline(
        vec![Task { location: at(nasty), ..task(TaskKey::Spawned(1), 0, vec![]) }],
        Vec::new(),
    );
    timeline.runtime = Some(nasty.to_owned());
    let labels = Labels { title: nasty.to_owned(), host: Some(nasty.to_owned()) };
    let bytes = StatemapData::new(timeline, labels).tasks_to_bytes().unwrap();
    assert_eq!(bytes.iter().filter(|&&b| b == b'\n').count(), 6);
    let statemap = read(&bytes[..]).unwrap();
    assert_eq!(statemap.metadata.title, format!("{nasty}: Tokio tasks"));
    assert_eq!(statemap.metadata.host.as_deref(), Some(nasty));
    assert_eq!(statemap.entities[0].name, format!("{nasty}/task-1"));
    assert_eq!(statemap.tags[0].tag, format!("{nasty}:3:9"));
    let fields = [("file", json::string(nasty)), ("location", json::string("3:9"))];
    assert_eq!(statemap.tags[0].fields, fields.map(|(key, value)| (key.to_owned(), value)));
    check_ours(&bytes[..]).unwrap();
}

#[test]
fn tasks_of_one_location_share_their_definitions() {
    let spawned =
        |id| Task { location: at("a.rs"), ..task(TaskKey::Spawned(id), 0, vec![poll(1, 2)]) };
    let written = tasks(timeline(vec![spawned(1), spawned(2)], Vec::new()));
    let definitions = written.lines().filter(|line| line.starts_with("{\"state\"")).count();
    assert_eq!(definitions, 3);
}

#[test]
fn a_writer_that_fails_is_an_error() {
    #[derive(Debug)]
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let error = data(timeline(Vec::new(), Vec::new())).write_tasks(Full).unwrap_err();
    assert!(error.to_string().contains("no storage space"), "{error}");
}

const CPUS: &str = r#"{"start":[1,2],"title":"cpus","states":{"busy":{"value":1,"color":"red"},"idle":{"value":0}}}"#;

/// Returns the error of some records after good metadata.
fn error_of(records: &str) -> ReadError {
    read(format!("{CPUS}\n{records}").as_bytes()).unwrap_err()
}

#[test]
fn other_peoples_data_is_read() {
    let records = r#"{"time":"5","entity":"a","state":1,"tag":"x"}
        {"entity":"b","description":"a b"} {"time":"3","entity":"b","state":0}{"time":"9","entity":"a","state":1}

        {"state":1,"tag":"x","pid":7}
        {"time":"6","entity":"a","event":"wake","target":"b"}"#;
    let statemap = read(format!("  {CPUS}{records}").as_bytes()).unwrap();
    assert_eq!(statemap.metadata.states[1].colour.as_deref(), Some("red"));
    assert_eq!(statemap.entities[0].data.len(), 2);
    assert_eq!(statemap.entities[0].data[0].tag, Some(0));
    assert_eq!(statemap.entities[1].description.as_deref(), Some("a b"));
    assert_eq!(statemap.tags[0].fields, [("pid".to_owned(), "7".to_owned())]);
    assert!(statemap.tags[0].is_defined);
    assert_eq!(statemap.events[0].target.as_deref(), Some("b"));
    assert_eq!(statemap.end_ns, 9);
}

#[test]
fn a_tag_that_is_used_only_is_known_as_undefined() {
    let records = r#"{"time":"5","entity":"a","state":1,"tag":"x"}"#;
    let statemap = read(format!("{CPUS}{records}").as_bytes()).unwrap();
    assert!(!statemap.tags[0].is_defined);
}

#[test]
fn errors_name_the_place_the_rule_and_what_is_there() {
    let first = CPUS.len() + 1;
    let datum = "{\"time\":\"130\",\"entity\":\"task-7\",\"state\":1}\n";
    for (records, line, byte, problem) in [
        (
            format!("{datum}\n {{\"time\":\"120\",\"entity\":\"task-7\",\"state\":1}}\n"),
            4,
            first + datum.len() + 2,
            "time goes back for entity `task-7`: 120 after 130; it must be greater each time",
        ),
        (
            format!("{datum}{datum}"),
            3,
            first + datum.len(),
            "time stands still for entity `task-7`: 130 twice; it must be greater each time",
        ),
        (
            "{\"time\":5,\"entity\":\"a\",\"state\":1,\"tag\":\"x\"}".to_owned(),
            2,
            first,
            "`time` is 5; it must be a string of whole ns since `start`, such as \"1500\"",
        ),
        (
            "{\"time\":\"5\",\"entity\":\"a\",\"state\":2}".to_owned(),
            2,
            first,
            "`state` is 2; it must be the value of a state of the metadata: 0 to 1",
        ),
        (
            "{\"time\":\"5\",\"entity\":\"a\",\"state\":1,\"tag\":\"x\",\"cpu\":1}".to_owned(),
            2,
            first,
            "unknown key `cpu`: a datum has `time`, `entity`, `state` and perhaps `tag`",
        ),
        (
            format!("{datum}{{\"time\":\"140\",\"ent"),
            3,
            first + datum.len(),
            "the data is truncated: this record has no end; a record is a whole JSON object",
        ),
        (
            format!("{datum}{{\"time\" \"140\"}}"),
            3,
            first + datum.len() + 8,
            "this is no JSON: expected `:`",
        ),
        ("7".to_owned(), 2, first, "7 is no record; a record is a JSON object"),
    ] {
        let error = error_of(&records);
        assert_eq!(
            (error.line, error.byte, error.problem.as_str()),
            (line, byte as u64, problem),
            "{records}"
        );
    }
    let error = error_of("7");
    assert!(error.to_string().starts_with("line 2, byte "), "{error}");
}

#[test]
fn bad_metadata_is_told_by_its_rule() {
    for (metadata, problem) in [
        ("", "there is nothing"),
        ("{\"time\":\"5\",\"entity\":\"a\",\"state\":1}", "there is no metadata"),
        ("{\"start\":[0,0],\"states\":{}}", "`title` is missing"),
        ("{\"start\":[0],\"title\":\"t\",\"states\":{}}", "`start` is [0]"),
        ("{\"start\":[0,0],\"title\":1,\"states\":{}}", "`title` is 1"),
        ("{\"start\":[0,0],\"title\":\"\",\"states\":{},\"x\":1}", "unknown key `x`"),
        (
            "{\"start\":[0,0],\"title\":\"\",\"states\":{\"a\":{\"value\":1}}}",
            "state `a` has the value 1; with 1 states it must be 0 to 0",
        ),
        (
            "{\"start\":[0,0],\"title\":\"\",\"states\":{\"a\":{\"value\":1},\"b\":{\"value\":1}}}",
            "states `a` and `b` both have the value 1",
        ),
    ] {
        let error = read(metadata.as_bytes()).unwrap_err();
        assert!(error.problem.starts_with(problem), "{metadata}: {error}");
    }
}

#[test]
fn a_reader_that_fails_is_an_error_with_its_cause() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::ConnectionReset.into())
        }
    }
    let error = read(Broken).unwrap_err();
    assert!(std::error::Error::source(&error).is_some());
}
