//! Tests of unusual files, cuts, and files of different runs.

use super::check::check_ours;
use super::read::{Statemap, read};
use super::{Recording, recordings};
use crate::analysis::picture::Picture;
use crate::trace::timeline::Timeline;

const STATES: &str = r##""states":{"spawned":{"value":0,"color":"#FFB000"},"running":{"value":1,"color":"#DC267F"},"waiting":{"value":2,"color":"#FE6100"},"completed":{"value":3,"color":"#648FFF"},"ready":{"value":4,"color":"#785EF0"}}"##;

/// Returns the tasks of a run of `program` that lasts `end_ns`: a future of `block_on`, and `lines` with
/// `data` data.
fn tasks(program: &str, end_ns: u64, lines: &[&str], data: usize, lists: &str) -> String {
    let number = |n: u64| if n > 1 << 53 { format!("\"{n}\"") } else { n.to_string() };
    let mut text = format!(
        "{{\"start\":[1000,0],\"title\":\"t\",{STATES},\"entityKind\":\"Task\"}}\n\
         {{\"tag\":\"tokio-statemap\",\"state\":3,\"format\":1,\"program\":\"{program}\",\
         \"beginNs\":0,\"endNs\":{},\"longPollNs\":1000000,\"events\":100,\"refusedEvents\":0,\
         \"droppedEvents\":0,\"reentrantEvents\":0,\"traceTarget\":\"both\",\"taskHooks\":true,\
         \"scheduleLatency\":true}}\n\
         {{\"time\":\"0\",\"entity\":\"main\",\"state\":0}}\n",
        number(end_ns),
    );
    for line in lines {
        text += line;
        text += "\n";
    }
    text += &format!(
        "{{\"tag\":\"tokio-statemap 1\",\"state\":3,\"data\":{},{lists}}}\n\
         {{\"time\":\"{end_ns}\",\"entity\":\"main\",\"state\":0}}\n",
        data + 1,
    );
    text
}

fn read_checked(text: &str) -> Statemap {
    check_ours(text.as_bytes()).expect("it is ours");
    read(text.as_bytes()).expect("it is data")
}

fn timeline(file: &Statemap) -> Timeline {
    let mut all = recordings(std::slice::from_ref(file));
    match all.pop() {
        Some(Recording::Run { timeline, .. }) => *timeline,
        other => panic!("{other:?}"),
    }
}

#[test]
fn times_near_the_end_of_time_do_not_overflow() {
    let lines = [
        r#"{"time":"18446744073709551612","entity":"task-1","state":0}"#,
        r#"{"time":"18446744073709551613","entity":"task-1","state":1}"#,
    ];
    let lists = r#""apart":[[2,255]],"ranOn":[[0,0]],"polls":[0,1],"parents":[[null,2]]"#;
    let file = read_checked(&tasks("p", u64::MAX - 1, &lines, 2, lists));
    let timeline = timeline(&file);
    let starts: Vec<_> =
        timeline.tasks.iter().flat_map(|t| &t.polls).map(|p| p.start_ns()).collect();
    assert_eq!(starts, [u64::MAX - 2]);
    let _ = timeline.report().to_string();
}

#[test]
fn a_source_file_may_be_named_as_our_tags_begin() {
    let lines = [
        r#"{"state":0,"tag":"tokio-statemap demo/main.rs:3:5","file":"tokio-statemap demo/main.rs","location":"3:5"}"#,
        r#"{"time":"7","entity":"task-1","state":0,"tag":"tokio-statemap demo/main.rs:3:5"}"#,
    ];
    let file = read_checked(&tasks("p", 100, &lines, 1, r#""parents":[[null,2]]"#));
    let timeline = timeline(&file);
    let location = timeline.tasks.last().and_then(|task| task.location).expect("it is known");
    assert_eq!(location.file, "tokio-statemap demo/main.rs");
}

#[test]
fn a_poll_that_a_cut_ends_does_not_run_on() {
    let lines = [
        r#"{"time":"10","entity":"task-1","state":0}"#,
        r#"{"time":"100","entity":"task-1","state":1}"#,
        r#"{"time":"900","entity":"task-1","state":2}"#,
    ];
    let lists = r#""ranOn":[[0,0]],"polls":[0,1],"parents":[[null,2]]"#;
    let mut file = read_checked(&tasks("p", 1000, &lines, 3, lists));
    let whole = timeline(&file);
    file.cut(200, Some(300));
    let part = timeline(&file);
    let poll = |timeline: &Timeline| timeline.tasks.last().unwrap().polls[0];
    assert_eq!(poll(&whole).end_ns(), Some(900));
    assert_eq!(poll(&part).end_ns(), Some(500));
    assert!(poll(&part).is_cut_left() && poll(&part).is_cut_right());
    assert_eq!(part.report().counts.running_polls, 0);
}

#[test]
fn the_workers_of_another_run_are_not_taken_for_its_own() {
    let lines = [
        r#"{"time":"10","entity":"task-1","state":0}"#,
        r#"{"time":"100","entity":"task-1","state":1}"#,
        r#"{"time":"500000000","entity":"task-1","state":2}"#,
    ];
    let lists = r#""ranOn":[[0,0]],"polls":[0,1],"parents":[[null,2]]"#;
    let tasks = tasks("api", 1_000_000_000, &lines, 3, lists);
    let workers = r##"{"start":[1000,0],"title":"t","states":{"running":{"value":0,"color":"#DC267F"},"parked":{"value":1,"color":"#FE6100"},"stopped":{"value":2,"color":"#648FFF"}},"entityKind":"Worker"}
{"tag":"tokio-statemap","state":2,"format":1,"program":"jobs","beginNs":0,"endNs":1000000000,"longPollNs":1000000,"events":100,"refusedEvents":0,"droppedEvents":0,"reentrantEvents":0,"traceTarget":"both","taskHooks":true,"scheduleLatency":true}
{"time":"0","entity":"worker-0","state":1}
{"tag":"tokio-statemap 1","state":2,"data":1,"parks":[1]}
{"time":"1000000000","entity":"worker-0","state":1}
"##;
    // Polls are only drawn on workers of the same run.
    let are_of_one_run = |files: &[Statemap]| {
        let picture = Picture::of_data(files);
        let mut origins = picture.sections.iter().map(|section| section.origin);
        let first = origins.next().expect("there are tasks");
        origins.len() == 1 && origins.all(|origin| origin == first)
    };
    let own = workers.replace("jobs", "api");
    assert!(are_of_one_run(&[read_checked(&tasks), read_checked(&own)]));
    assert!(!are_of_one_run(&[read_checked(&tasks), read_checked(workers)]));
}
