//! `symbolize` and waiting tasks: a stripped program's data becomes that of the whole one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tests::check::check;
use tests::child;
use tokio_statemap::Timeline;
use tokio_statemap::timeline::{AwaitFrame, Waiting};

use super::binary::{folder, run};
use super::symbolize::{objcopy, program, timeline};

fn run_program(program: &Path, folder: &Path) -> Timeline {
    let ended = child::Running::start(&mut child::command(program, folder)).end();
    assert!(ended.status.success(), "{ended:?}");
    timeline(&folder.join("tasks.json"))
}

fn show(frames: &[AwaitFrame], depth: usize) -> String {
    let show = |frame: &AwaitFrame| {
        let (name, inner) = (frame.name.as_deref().unwrap_or("-"), show(&frame.awaits, depth + 1));
        format!("{:depth$}{} {name} {:?}\n{inner}", "", frame.function, frame.function.origin)
    };
    frames.iter().map(show).collect()
}

/// Returns the places where each task waited after its polls, and at the end.
fn waits(timeline: &Timeline) -> BTreeMap<String, Vec<String>> {
    let of = |task| {
        let end = match timeline.waiting_at_end(task) {
            Waiting::At(wait) => show(&wait.frames, 0),
            other => format!("{other:?}"),
        };
        let waits = task.polls.iter().map(|poll| timeline.wait_after(poll));
        let waits = waits.map(|wait| wait.map_or_else(String::new, |wait| show(&wait.frames, 0)));
        waits.chain([end]).collect()
    };
    timeline.tasks.iter().map(|task| (task.key.to_string(), of(task))).collect()
}

#[test]
fn a_stripped_program_s_tasks_wait_where_the_whole_one_s_do() {
    let Some(whole) = program("stripped") else { return };
    let folder = folder("symbolize_waits");
    objcopy(&folder, "--strip-all", &whole, "stripped");
    objcopy(&folder, "--only-keep-debug", &whole, "stripped.debug");
    let expected = waits(&run_program(&whole, &folder));
    let known = format!("{expected:?}");
    for function in
        ["stripped::checkout", "stripped::pay", "stripped::both", "Mutex", "Sleep", "a name"]
    {
        assert!(known.contains(function), "{function}: {known}");
    }
    assert!(!fs::read_to_string(folder.join("tasks.json")).unwrap().contains("\"chains\":"));

    let unnamed = run_program(&folder.join("stripped"), &folder);
    // The places of instrumented calls are known at once.
    let before = waits(&unnamed);
    assert!(
        before != expected && format!("{before:?}").contains("stripped::is_notified"),
        "{before:?}"
    );
    let text = fs::read_to_string(folder.join("tasks.json")).unwrap();
    assert!(text.contains("\"chains\":[") && text.contains(": unknown\""), "{text}");
    assert!(!text.contains("async stripped::checkout"), "{text}");
    let report = run(&folder, "report tasks.json").stdout();
    assert!(!report.contains("0x") && !report.contains("stripped.rs:16"), "{report}");

    let said = run(&folder, "symbolize tasks.json --binary stripped.debug -o named.json").stdout();
    assert!(said.ends_with(" addresses have names\n"), "{said}");
    let named = timeline(&folder.join("named.json"));
    assert_eq!(waits(&named), expected);
    let text = fs::read_to_string(folder.join("named.json")).unwrap();
    assert!(!text.contains("\"chains\":") && !text.contains("(build id "), "{text}");
    assert!(text.contains(": async stripped::pay at tests/src/bin/stripped.rs:"), "{text}");
    assert_eq!(check(text.as_bytes()).unwrap().waits.names, 0);
    let said = run(&folder, "symbolize named.json --binary stripped.debug").stdout();
    assert_eq!(said, "named.json: nothing to do: no function is an address with a build id\n");
}

/// The strict check and the reader agree on data that no program writes.
#[test]
fn strange_chains_are_refused() {
    let Some(whole) = program("stripped") else { return };
    let folder = folder("symbolize_strange");
    objcopy(&folder, "--strip-all", &whole, "stripped");
    run_program(&folder.join("stripped"), &folder);
    let text = fs::read_to_string(folder.join("tasks.json")).unwrap();
    let (head, chains) = text.split_once("\"chains\":[").unwrap();
    let (chains, tail) = chains.split_once("],\"unnamed\":[").unwrap();
    let (unnamed, tail) = tail.split_once("]]]").unwrap();
    let many = |n| vec!["[0]"; n].join(",");
    for (chains, unnamed, problem) in [
        ("[[[0,99999]],[]]", "[1,[0]]", "`chains` has an index that `functions` doesn't have"),
        ("[[[]],[]]", "[1,[0]]", "`chains` has a place that has no number"),
        ("[[[\"0\"]],[]]", "[1,[0]]", "`chains`: invalid type"),
        ("[[[0]],[[\"f\",\"a.rs\"]]]", "[1,[0]]", "`chains`: invalid length 2"),
        (&format!("[[{}],[]]", many(257)), "[1,[0]]", "`chains` has one of over 256 addresses"),
        (&format!("[[[0{}]],[]]", ",0".repeat(257)), "[1,[0]]", "over 256 functions at an address"),
        (chains, "[1,[99999]]", "`unnamed` has an index that `chains` doesn't have"),
        (chains, "[0,[0]]", "`unnamed` has the invalid number 0"),
        (chains, "[16383,[0]]", "`unnamed` must be by number, and 16383 isn't the next one"),
        (chains, "[2,[0]],[1,[0]]", "`unnamed` must be by number, and 1 isn't the next one"),
        (chains, "[1,0]", "`unnamed`: invalid type"),
    ] {
        let text = format!("{head}\"chains\":[{chains}],\"unnamed\":[{unnamed}]{tail}");
        fs::write(folder.join("strange.json"), text).unwrap();
        let ended = run(&folder, "check strange.json");
        assert!(ended.status == Some(1) && ended.stderr.contains(problem), "{problem}: {ended:?}");
        let ended = run(&folder, "symbolize strange.json --binary stripped");
        let problem = "this isn't the data of a run as tokio-statemap wrote it";
        assert!(ended.status == Some(1) && ended.stderr.contains(problem), "{ended:?}");
    }
    // The unchanged data passes.
    let same = format!("{head}\"chains\":[{chains}],\"unnamed\":[{unnamed}]]]{tail}");
    assert_eq!(same, text);
    assert_eq!(run(&folder, "check tasks.json").status, Some(0));
}
