//! Tests that each rule refuses a minimal file that breaks it, and nothing else.

use super::{check, check_ours};

const TASKS: &str = r##"{"start":[1,2],"title":"t","states":{"spawned":{"value":0,"color":"#FFB000"},"running":{"value":1,"color":"#DC267F"},"waiting":{"value":2,"color":"#FE6100"},"completed":{"value":3,"color":"#648FFF"}},"host":"h","entityKind":"Task"}"##;
const WORKERS: &str = r##"{"start":[1,2],"title":"t","states":{"running":{"value":0,"color":"#DC267F"},"parked":{"value":1,"color":"#FE6100"},"stopped":{"value":2,"color":"#648FFF"}},"entityKind":"Worker"}"##;

fn refused(bytes: impl AsRef<[u8]>, problem: &str) {
    let error = check_ours(bytes.as_ref()).expect_err("it passed").to_string();
    assert!(error.contains(problem), "{error}");
}

/// Checks that changed metadata is refused.
fn metadata(from: &str, to: &str, problem: &str) {
    assert!(TASKS.contains(from));
    refused(TASKS.replacen(from, to, 1) + "\n", problem);
}

/// Checks that these records are refused after good metadata of tasks.
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
    let statemap = check_ours((lines.join("\n") + "\n").as_bytes()).unwrap();
    assert_eq!(statemap.metadata.title, "t");
    assert_eq!(statemap.metadata.start, [1, 2]);
    assert_eq!(statemap.metadata.host.as_deref(), Some("h"));
    assert_eq!(statemap.end_ns, 7);
    let names: Vec<_> = statemap.entities.iter().map(|entity| entity.name.as_str()).collect();
    assert_eq!(names, ["main", "task-1", "api/task-2"]);
    let states: Vec<_> = statemap.entities[1].data.iter().map(|datum| datum.state).collect();
    assert_eq!(states, [0, 3]);
    assert_eq!(statemap.tags[0].tag, "a.rs:1:1");
    check_ours(format!("{TASKS}\n").as_bytes()).unwrap();
    let ready = r##","ready":{"value":4,"color":"#785EF0"}},"host""##;
    check_ours((TASKS.replace("},\"host\"", ready) + "\n").as_bytes()).unwrap();
    let worker =
        |time: u32| format!("{{\"time\":\"{time}\",\"entity\":\"worker-0\",\"state\":0}}\n");
    check_ours(format!("{WORKERS}\n{}{}", worker(0), worker(1)).as_bytes()).unwrap();
}

#[test]
fn the_file_is_whole() {
    refused("", "there is nothing");
    refused(format!("{TASKS}\n{SPAWNED}\n{{\"time\":\"6\",\"en"), "truncated");
    refused(b"{\"\xff\"}\n", "line 1, byte 2: this is not UTF-8");
    records(
        &[SPAWNED, "{\"time\":\"6\",\"en"],
        "line 3, byte 286: this is no JSON: control character",
    );
    records(&["[]"], "[] is no record");
}

#[test]
fn metadata_come_first_with_exactly_their_keys() {
    refused(format!("{SPAWNED}\n{TASKS}\n"), "line 1, byte 0: there is no metadata");
    records(&[TASKS], "line 2, byte 232: this is a second metadata object");
    metadata(r#""title":"t","#, "", "`title` is missing");
    metadata(r#""start":[1,2],"#, "", "`start` is missing");
    metadata(r#","entityKind":"Task""#, "", "this isn't data of tokio-statemap");
    metadata(r#""host":"h""#, r#""version":1"#, "unknown key `version`");
    metadata("[1,2]", "[1]", "`start` is [1]; it must be [seconds, nanoseconds]");
    metadata("[1,2]", "[-1,2]", "`start` is [-1,2]");
    metadata(r#""t""#, "1", "`title` is 1; it must be a string");
    metadata("Task", "Thread", "this isn't data of tokio-statemap");
}

#[test]
fn the_states_are_ours_without_gaps() {
    metadata(
        r#""value":3"#,
        r#""value":4"#,
        "state `completed` has the value 4; with 4 states it must be 0 to 3",
    );
    metadata(r#""value":3"#, r#""value":2"#, "both have the value 2");
    metadata(r#""value":3"#, r#""value":"3""#, "state `completed` has the value \"3\"");
    metadata("waiting", "idle", "this isn't data of tokio-statemap");
    metadata(r#""value":3,"#, r#""value":3,"x":1,"#, "unknown key `x`");
}

#[test]
fn times_are_strings_of_whole_ns() {
    for time in ["5", "\"\"", "\"-5\"", "\"5.0\"", "\"18446744073709551616\""] {
        let datum = format!("{{\"time\":{time},\"entity\":\"main\",\"state\":0}}");
        records(&[&datum], "`time` is");
    }
}

#[test]
fn times_rise_within_an_entity() {
    records(&[SPAWNED, SPAWNED], "time stands still for entity `main`: 5 twice");
    records(
        &[SPAWNED, r#"{"time":"4","entity":"main","state":1}"#],
        "time goes back for entity `main`: 4 after 5",
    );
}

#[test]
fn the_last_record_is_the_latest() {
    records(
        &[
            SPAWNED,
            r#"{"time":"8","entity":"task-1","state":0}"#,
            r#"{"time":"7","entity":"main","state":0}"#,
        ],
        "the last change of state is at 7, but one before at 8",
    );
}

#[test]
fn data_have_exactly_their_keys() {
    records(&[r#"{"time":"5","entity":"main"}"#], "`state` is missing");
    records(&[r#"{"time":"5","state":0}"#], "`entity` is missing");
    records(&[r#"{"entity":"main","state":0}"#], "`time` is missing");
    records(&[r#"{"time":"5","entity":"main","state":0,"x":1}"#], "unknown key `x`");
    records(
        &[DEFINED, r#"{"time":"5","entity":"task-1","state":0,"tag":"a.rs:1:1","x":1}"#],
        "unknown key `x`",
    );
}

#[test]
fn states_exist() {
    records(&[r#"{"time":"5","entity":"main","state":4}"#], "`state` is 4; it must be");
    records(&[r#"{"time":"5","entity":"main","state":"0"}"#], "`state` is \"0\"; it must be");
    records(&[r#"{"state":4,"tag":"a"}"#], "`state` is 4; it must be");
}

#[test]
fn tags_are_defined() {
    records(&[TAGGED], "tag `a.rs:1:1` of state 0 has no definition");
    records(&[r#"{"state":1,"tag":"a.rs:1:1"}"#, TAGGED], "of state 0 has no definition");
}

/// Checks data of another program: two states, and `records`.
fn of_others(records: &str) -> Result<u64, String> {
    let metadata = r#"{
        "start": [1, 2], "title": "cpus",
        "states": {"idle": {"value": 0, "color": "grey"}, "busy": {"value": 1}}
    }"#;
    let checked = check(format!("{metadata}\n{records}").as_bytes());
    checked.map(|statemap| statemap.end_ns).map_err(|error| error.to_string())
}

#[test]
fn data_of_others_may_be_written_otherwise() {
    let records = r#"{ "time": "5", "entity": "0", "state": 1, "tag": "x" }
        {"state":1,"tag":"x","pid":7}{"state":1,"tag":"x","pid":8}
        {"entity":"0","description":"the first"} {"time":"6","entity":"0","event":"e"}
        {"time":"07","entity":"1","state":0} {"time":"7","entity":"0","state":0}"#;
    assert_eq!(of_others(records), Ok(7));
    assert_eq!(of_others(""), Ok(0));
    let theirs = r#"{"start":[1,2],"title":"t","states":{"a":{"value":0}},"entityKind":"Task"}"#;
    assert!(check(theirs.as_bytes()).is_ok());
    assert!(check_ours(theirs.as_bytes()).is_err());
}

#[test]
fn data_of_others_keep_the_rules_of_the_format() {
    let refused = |records: &str, problem: &str| {
        let error = of_others(records).expect_err("it passed");
        assert!(error.starts_with(problem), "{error}");
    };
    let datum = |time: u32, more: &str| {
        format!("{{\"time\":\"{time}\",\"entity\":\"a\",\"state\":1{more}}}\n")
    };
    refused(&datum(5, ",\"tag\":\"x\""), "line 5, byte 130: tag `x` of state 1 has no definition");
    refused(&(datum(5, "") + &datum(5, "")), "line 6, byte 166: time stands still");
    refused(
        &(datum(5, "") + "{\"time\":\"4\",\"entity\":\"b\",\"state\":0}"),
        "line 6, byte 166: the last",
    );
    refused(
        &(datum(5, "") + "{\"time\":6,\"entity\":\"b\",\"state\":0}"),
        "line 6, byte 166: `time` is 6",
    );
}

/// Returns data of this crate that describes its run.
fn whole() -> Vec<u8> {
    let closing = r#"{"time":"9","entity":"main","state":0}"#;
    let part = r#"{"tag":"tokio-statemap 1","state":0,"data":1,"parents":[[null,1]]}"#;
    ([TASKS, RUN, SPAWNED, part, closing].join("\n") + "\n").into_bytes()
}

/// Under Miri only a part is tested.
const STEP: usize = if cfg!(miri) { 41 } else { 1 };

#[test]
fn what_is_cut_off_never_passes() {
    let whole = whole();
    // The metadata alone is valid data, and so is a run without data. The last newline may be missing.
    let good =
        [TASKS.len(), TASKS.len() + 1, TASKS.len() + 1 + RUN.len(), TASKS.len() + 2 + RUN.len()];
    for end in (0..whole.len() - 1).step_by(STEP) {
        assert_eq!(check_ours(&whole[..end]).is_ok(), good.contains(&end), "{end}");
    }
}

#[test]
fn damaged_data_is_told_or_taken_but_never_the_end_of_the_program() {
    let whole = whole();
    for at in (0..whole.len()).step_by(STEP) {
        for byte in [0, b' ', b'"', b'\\', b'{', b'}', b'0', b'9', 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = byte;
            let read = crate::statemap::read::read(&damaged[..]);
            // Data that passes a strict check can be read.
            assert!(check_ours(&damaged[..]).is_err() || read.is_ok(), "{at}: {byte}");
            assert!(check(&damaged[..]).is_err() || read.is_ok(), "{at}: {byte}");
            if let Err(error) = read {
                assert!(error.byte <= whole.len() as u64 && error.line <= 6, "{error}");
            }
        }
    }
}

const RUN: &str = r#"{"tag":"tokio-statemap","state":0,"format":1,"program":"p","beginNs":0,"endNs":9,"longPollNs":1000000,"events":7,"refusedEvents":0,"droppedEvents":0,"reentrantEvents":0,"traceTarget":"both","taskHooks":true,"scheduleLatency":false}"#;
const PART: &str = r#"{"tag":"tokio-statemap 1","state":0,"data":3,"gaps":[[1,2],[4,5]],"handovers":[[0,6,0]],"ranOn":[[0,0],[1,null]],"polls":[1,1],"cut":[[0,1]],"apart":[[2,1]],"parents":[[null,1],["main",1]]}"#;

/// Checks data of a task that is polled once, with these definitions.
fn run(definitions: [&str; 2]) -> Result<(), String> {
    let datum = |time: u32, entity: &str, state: u32| {
        format!("{{\"time\":\"{time}\",\"entity\":\"{entity}\",\"state\":{state}}}")
    };
    let [first, part] = definitions;
    let (main, end) = (datum(0, "main", 0), datum(9, "main", 0));
    let (polled, over) = (datum(7, "task-1", 1), datum(8, "task-1", 3));
    let lines = [TASKS, first, &main, &polled, &over, part, &end];
    let bytes = lines.join("\n") + "\n";
    let read = crate::statemap::read::read(bytes.as_bytes()).unwrap();
    let checked = check_ours(bytes.as_bytes()).map_err(|error| error.to_string());
    // `read` takes a run with a wrong description for other data.
    assert_eq!(read.timeline().is_ok(), checked.is_ok(), "{checked:?}");
    checked.map(|_| ())
}

#[test]
fn what_a_run_was_is_said_of_all_its_data() {
    run([RUN, PART]).unwrap();
    for (from, to, problem) in [
        (r#""format":1"#, r#""format":2"#, "`format` must be 1"),
        (r#""format":1"#, r#""format":1,"x":1"#, "unknown field `x`"),
        (r#""events":7,"#, "", "missing field `events`"),
        (r#""events":7"#, r#""events":"7""#, "\"7\" is no whole number, over 2^53 as a string"),
        (r#""events":7"#, r#""events":9007199254740993"#, "is no whole number"),
        (r#""endNs":9"#, r#""endNs":"x""#, "is no whole number"),
        (r#""beginNs":0"#, r#""beginNs":10"#, "`beginNs` no more than `endNs`"),
        (r#""both""#, r#""all""#, "there is no target `all`"),
        (r#"Latency":false"#, r#"Latency":true"#, "doesn't agree with the states"),
        (r#""program":"p""#, r#""program":"p","runtime":"r""#, "has an invalid name"),
        ("tokio-statemap\"", "tokio-statemap 1\"", "must be the first of its tags"),
    ] {
        assert!(RUN.contains(from), "{from}");
        let told = run([&RUN.replacen(from, to, 1), PART]).expect_err("it passed");
        assert!(told.contains(problem), "{told}");
    }
    for (from, to, problem) in [
        ("[4,5]", "[1,5]", "`gaps` has [1,5]"),
        ("[4,5]", "[4,4]", "`gaps` has [4,4]"),
        ("[4,5]", "[4,10]", "`gaps` has [4,10]"),
        ("[4,5]", "[4]", "invalid length 1"),
        ("[[0,6,0]]", "[[0,6,0],[0,5,0]]", "`handovers` must be by thread and time"),
        (r#""data":3"#, r#""data":2"#, "it describes more than `data`"),
        (r#""data":3"#, r#""data":4"#, "`data` is more than there are"),
        ("[1,1],\"cut", "[1,2],\"cut", "it describes more than `data`"),
        ("[1,1],\"cut", "[],\"cut", "`polls` are fewer than those in the data"),
        ("[1,1],\"cut", "[2,1],\"cut", "an index that `ranOn` doesn't have"),
        ("[0,1]]", "[1,1]]", "it describes more than `data`"),
        ("[2,1]]", "[3,1]]", "it describes more than `data`"),
        ("[2,1]]", "[2,256]]", "invalid value"),
        ("[\"main\",1]", "[\"main\",2]", "`parents` are more than there are tasks"),
        ("[\"main\",1]", "[\"main-1\",1]", "is no whole number"),
        (",[\"main\",1]", "", "describe 3 data and 1 entities; there are 3 and 2"),
        ("tokio-statemap 1", "tokio-statemap 2", "must be `tokio-statemap 1`"),
        (r#""data""#, r#""more""#, "unknown field `more`"),
    ] {
        assert!(PART.contains(from), "{from}");
        let told = run([RUN, &PART.replacen(from, to, 1)]).expect_err("it passed");
        assert!(told.contains(problem), "{told}");
    }
    records(&[RUN, SPAWNED, r#"{"time":"9","entity":"main","state":0}"#], "describe 0 data");
    records(&[SPAWNED, RUN], "must be the first of its tags, and before all data");
}
