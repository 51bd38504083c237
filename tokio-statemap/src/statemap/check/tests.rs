//! Each rule refuses a minimal file that breaks it, and nothing else.

use super::check;

const TASKS: &str = r##"{"start":[1,2],"title":"t","states":{"spawned":{"value":0,"color":"#FFB000"},"running":{"value":1,"color":"#DC267F"},"waiting":{"value":2,"color":"#FE6100"},"completed":{"value":3,"color":"#648FFF"}},"host":"h","entityKind":"Task"}"##;
const WORKERS: &str = r##"{"start":[1,2],"title":"t","states":{"running":{"value":0,"color":"#DC267F"},"parked":{"value":1,"color":"#FE6100"},"stopped":{"value":2,"color":"#648FFF"}},"entityKind":"Worker"}"##;

fn refused(bytes: impl AsRef<[u8]>, problem: &str) {
    let error = check(bytes.as_ref()).expect_err("it passed");
    assert!(error.contains(problem), "{error}");
}

/// Changed metadata is refused.
fn metadata(from: &str, to: &str, problem: &str) {
    assert!(TASKS.contains(from));
    refused(TASKS.replacen(from, to, 1) + "\n", problem);
}

/// Records after good metadata of tasks are refused.
fn records(records: &[&str], problem: &str) {
    refused(format!("{TASKS}\n{}\n", records.join("\n")), problem);
}

const SPAWNED: &str = r#"{"time":"5","entity":"main","state":0}"#;
const DEFINED: &str = r#"{"state":0,"tag":"a.rs:1:1"}"#;
const TAGGED: &str = r#"{"time":"5","entity":"task-1","state":0,"tag":"a.rs:1:1"}"#;

#[test]
fn good_data_pass() {
    let lines = [
        TASKS,
        SPAWNED,
        DEFINED,
        TAGGED,
        r#"{"time":"6","entity":"task-1","state":3}"#,
        r#"{"time":"4","entity":"api/task-2","state":0}"#,
        r#"{"time":"7","entity":"main","state":0}"#,
    ];
    let summary = check((lines.join("\n") + "\n").as_bytes()).unwrap();
    assert_eq!(summary.title, "t");
    assert_eq!(summary.start, (1, 2));
    assert_eq!(summary.host.as_deref(), Some("h"));
    assert_eq!(summary.transitions(), 5);
    assert_eq!(summary.end_ns, 7);
    assert_eq!(summary.states_of("task-1"), ["spawned", "completed"]);
    assert_eq!(summary.entries("main", "spawned"), 1);
    assert_eq!(summary.tags, [(0, "a.rs:1:1".to_owned())]);
    check(format!("{TASKS}\n").as_bytes()).unwrap();
    let ready = r##","ready":{"value":4,"color":"#785EF0"}},"host""##;
    check((TASKS.replace("},\"host\"", ready) + "\n").as_bytes()).unwrap();
    let worker =
        |time: u32| format!("{{\"time\":\"{time}\",\"entity\":\"worker-0\",\"state\":0}}\n");
    check(format!("{WORKERS}\n{}{}", worker(0), worker(1)).as_bytes()).unwrap();
}

#[test]
fn the_file_is_whole() {
    refused("", "empty");
    refused(TASKS, "truncated");
    refused(format!("{TASKS}\n{SPAWNED}\n{{\"time\":\"6\",\"en"), "truncated");
    refused(b"{\"\xff\"}\n", "not UTF-8");
    records(&[SPAWNED, "{\"time\":\"6\",\"en"], "line 3: no JSON");
    records(&[SPAWNED, ""], "line 3: no JSON");
    records(&["[]"], "no object");
    records(&[r#"{"time":"5","time":"6","entity":"main","state":0}"#], "twice");
    records(&[&format!("{SPAWNED}{SPAWNED}")], "no JSON");
}

#[test]
fn metadata_come_first_with_exactly_their_keys() {
    refused(format!("{SPAWNED}\n{TASKS}\n"), "line 1: no `start`");
    records(&[TASKS], "line 2: no `state`");
    metadata(r#""title":"t","#, "", "no `title`");
    metadata(r#""start":[1,2],"#, "", "no `start`");
    metadata(r#","entityKind":"Task""#, "", "no `entityKind`");
    metadata(r#""host":"h""#, r#""version":1"#, "`version` doesn't belong there");
    metadata("[1,2]", "[1]", "`start` isn't");
    metadata("[1,2]", "[1,1000000000]", "`start` isn't");
    metadata("[1,2]", "[-1,2]", "`start` isn't");
    metadata(r#""t""#, "1", "`title` is no string");
    metadata(r#""h""#, "null", "`host` is no string");
    metadata("Task", "Thread", "`entityKind` is neither");
}

#[test]
fn the_states_are_ours_without_gaps() {
    metadata(r#""value":3"#, r#""value":4"#, "have a gap");
    metadata(r#""value":3"#, r#""value":2"#, "the same value");
    metadata(r#""value":3"#, r#""value":"3""#, "no whole number");
    metadata("#648FFF", "blue", "isn't #RRGGBB");
    metadata("#648FFF", "#648FFG", "isn't #RRGGBB");
    metadata("#648FFF", "#648FFE", "aren't ours");
    metadata("waiting", "idle", "aren't ours");
    metadata(r#""value":3,"#, r#""value":3,"x":1,"#, "`x` doesn't belong there");
}

#[test]
fn times_are_strings_of_whole_ns() {
    for time in ["5", "\"\"", "\"-5\"", "\"+5\"", "\"05\"", "\"5.0\"", "\"18446744073709551616\""] {
        let datum = format!("{{\"time\":{time},\"entity\":\"main\",\"state\":0}}");
        records(&[&datum], "`time` is");
    }
}

#[test]
fn times_rise_within_an_entity() {
    records(&[SPAWNED, SPAWNED], "isn't greater");
    records(&[SPAWNED, r#"{"time":"4","entity":"main","state":1}"#], "isn't greater");
}

#[test]
fn the_last_record_closes_the_data() {
    let other = |time: u32| format!("{{\"time\":\"{time}\",\"entity\":\"task-1\",\"state\":0}}");
    let closing = r#"{"time":"7","entity":"main","state":0}"#;
    records(&[SPAWNED, &other(8), closing], "isn't the latest");
    records(&[SPAWNED, &other(7), closing], "isn't the latest");
    records(&[SPAWNED, &other(8)], "doesn't repeat");
    records(&[SPAWNED], "doesn't repeat");
    records(&[DEFINED, TAGGED, &other(6)], "its tag isn't");
    records(
        &[
            DEFINED,
            TAGGED,
            r#"{"time":"6","entity":"task-1","state":0,"tag":"a.rs:1:1"}"#,
            r#"{"state":1,"tag":"b"}"#,
        ],
        "isn't used",
    );
}

#[test]
fn data_have_exactly_their_keys() {
    records(&[r#"{"time":"5","entity":"main"}"#], "no `state`");
    records(&[r#"{"time":"5","state":0}"#], "no `entity`");
    records(&[r#"{"entity":"main","state":0}"#], "no `time`");
    records(&[r#"{"time":"5","entity":"main","state":0,"x":1}"#], "`x` doesn't");
    records(
        &[DEFINED, r#"{"time":"5","entity":"task-1","state":0,"tag":"a.rs:1:1","x":1}"#],
        "`x` doesn't",
    );
    records(&[r#"{"time":"5","entity":"main","state":0,"tag":null}"#], "`tag` is no string");
    records(&[r#"{"entity":"main","description":"d"}"#], "no `time`");
}

#[test]
fn states_exist() {
    records(&[r#"{"time":"5","entity":"main","state":4}"#], "there is no state 4");
    records(&[r#"{"time":"5","entity":"main","state":"0"}"#], "no whole number");
    records(&[r#"{"state":4,"tag":"a"}"#], "there is no state 4");
}

#[test]
fn tags_are_defined_once_before_their_use() {
    records(&[TAGGED], "isn't defined before");
    records(&[r#"{"state":1,"tag":"a.rs:1:1"}"#, TAGGED], "isn't defined before");
    records(&[DEFINED, DEFINED], "defined twice");
    records(&[r#"{"state":0,"tag":"a","x":1}"#], "`x` doesn't");
}

#[test]
fn tags_are_on_live_states_only_and_on_all_of_them() {
    let completed = r#"{"time":"6","entity":"task-1","state":3,"tag":"a"}"#;
    records(&[r#"{"state":3,"tag":"a"}"#, completed], "only the live states");
    let running = r#"{"time":"6","entity":"task-1","state":1}"#;
    records(&[DEFINED, TAGGED, running], "its tag isn't");
    let tag = r#"{"state":0,"tag":"a"}"#;
    let worker = r#"{"time":"6","entity":"worker-1","state":0,"tag":"a"}"#;
    refused(format!("{WORKERS}\n{tag}\n{worker}\n"), "only the live states");
}

#[test]
fn lives_are_in_order() {
    let at_6 = |state: u32| format!("{{\"time\":\"6\",\"entity\":\"main\",\"state\":{state}}}");
    records(&[r#"{"time":"5","entity":"main","state":3}"#, &at_6(1)], "lives on");
    records(&[r#"{"time":"5","entity":"main","state":2}"#, &at_6(0)], "spawned again");
}

#[test]
fn entities_are_named_as_ours_are() {
    for name in ["worker-1", "task-", "task-01", "task-x", "Main", "main-", ""] {
        let datum = format!("{{\"time\":\"5\",\"entity\":\"{name}\",\"state\":0}}");
        records(&[&datum], "isn't how");
    }
    let task = r#"{"time":"6","entity":"task-1","state":0}"#;
    refused(format!("{WORKERS}\n{task}\n"), "isn't how");
}
