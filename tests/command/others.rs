//! Data of other instrumentation in the same format is drawn in its own states and colours.

use std::fs;

use super::binary::{folder, run};
use super::page::Page;

/// Data with all variations of the format: metadata over several lines, white space, and tags that are
/// defined before or after their use, twice, with more members, or not at all.
const CPUS: &str = r##"{
    "start": [ 1544138397, 322335842 ],
    "title": "CPU activity",
    "host": "db-1",
    "entityKind": "CPU",
    "states": {
        "idle": { "value": 2, "color": "#e0e0e0" },
        "user thread": { "value": 0, "color": "#9BC362" },
        "interrupt": { "value": 1, "color": "teal" },
        "kernel <thread>": { "value": 3 }
    }
}
{ "time": "133694", "entity": "14", "state": 2 }
{ "time": "133726", "entity": "0", "state": 2 }
{ "state": 1, "tag": "mpt0", "driver": "mpt_sas", "instance": 0 }
{ "time": "140000", "entity": "0", "state": 1, "tag": "mpt0" }
{ "time": "141000", "entity": "0", "state": 0, "tag": "4a0e384" }
{ "time": "142000", "entity": "2", "state": 3, "tag": "nobody" }
{ "state": 0, "tag": "4a0e384", "pid": "50378", "execname": "node" }
{ "state": 1, "tag": "mpt0", "driver": "mpt_sas", "instance": 1 }
{ "entity": "14", "description": "the last one" }
{ "time": "150000", "entity": "14", "event": "wake", "target": "0" }
{ "time": "151000", "entity": "7", "event": "offline" }
{ "time": "160000", "entity": "0", "state": 0, "tag": "nobody" }
{ "time": "171000", "entity": "14", "state": 0 }
{ "time": "173279", "entity": "2", "state": 2 }
"##;

#[test]
fn the_page_shows_them_as_they_are() {
    let folder = folder("others");
    fs::write(folder.join("cpus.json"), CPUS).unwrap();
    run(&folder, "render cpus.json -o out.html").stdout();
    let page = Page::read(&fs::read(folder.join("out.html")).unwrap());
    assert_eq!(page.meta["title"], "CPU activity");
    assert_eq!(page.meta["host"], "db-1");
    assert_eq!(page.meta["start"].to_string(), "[1544138397,322335842]");
    assert_eq!((page.length_ns, &page.meta["verdict"]), (173_279, &serde_json::Value::Null));
    let [section] = &page.sections[..] else { panic!("one section") };
    assert_eq!((section.title.as_str(), section.kind.as_str()), ("CPU activity", "other"));
    let colours: Vec<_> = section.meta["states"].as_array().unwrap().iter().collect();
    assert_eq!(
        serde_json::to_value(colours).unwrap(),
        serde_json::json!([
            { "name": "user thread", "colour": "#9BC362", "role": "other" },
            { "name": "interrupt", "colour": "teal", "role": "other" },
            { "name": "idle", "colour": "#e0e0e0", "role": "other" },
            { "name": "kernel <thread>", "colour": null, "role": "other" },
        ])
    );
    assert_eq!(section.groups, [("CPU".to_owned(), 3)]);
    let names: Vec<_> = section.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["0", "2", "14"]);
    assert_eq!(section.rows[2].description.as_deref(), Some("the last one"));
    assert!(section.rows.iter().all(|row| !row.is_root));
    assert_eq!(
        section.rows[0].changes,
        [(133_726, 2, None), (140_000, 1, Some(0)), (141_000, 0, Some(1)), (160_000, 0, Some(3))]
    );
    assert_eq!(
        section.meta["tags"][0].to_string(),
        r#"{"fields":[["driver","\"mpt_sas\""],["instance","1"]],"state":1,"tag":"mpt0"}"#
    );
    assert_eq!(section.meta["events"].to_string(), r#"[[2,150000,"wake","0"]]"#);
    assert_eq!(
        page.notes(),
        [
            "2 tags are used but not defined.",
            "One event is of an entity without any state and isn't shown.",
        ]
    );
}

#[test]
fn the_svg_shows_them_too() {
    let folder = folder("others_svg");
    fs::write(folder.join("cpus.json"), CPUS).unwrap();
    run(&folder, "render cpus.json -o out.svg").stdout();
    let svg = fs::read(folder.join("out.svg")).unwrap();
    tests::page::check_svg(&svg).unwrap();
    let svg = String::from_utf8(svg).unwrap();
    for part in ["#9BC362", "kernel &lt;thread&gt;"] {
        assert!(svg.contains(part), "{part}");
    }
}

#[test]
fn the_report_tells_where_their_time_went() {
    let folder = folder("others_report");
    fs::write(folder.join("cpus.json"), CPUS).unwrap();
    let report = run(&folder, "report cpus.json").stdout();
    assert!(
        report.starts_with("CPU activity: 4 CPUs, 8 changes of state in 173 µs.\n"),
        "{report}"
    );
    for line in [
        "idle             39.5 %  43.6 µs      3  37.3 µs",
        "kernel <thread>: nobody   1      1  31.3 µs  31.3 µs",
        "134 µs   37.3 µs      14  idle",
    ] {
        assert!(report.lines().any(|found| found == line), "{line}\n{report}");
    }
}

#[test]
fn the_checker_knows_the_rules_that_they_break() {
    let folder = folder("others_check");
    fs::write(folder.join("cpus.json"), CPUS).unwrap();
    let ended = run(&folder, "check cpus.json");
    assert_eq!(
        (ended.status, ended.stderr.as_str()),
        (
            Some(1),
            "tokio-statemap: cpus.json: line 18, byte 639: tag `nobody` of state 3 has no definition; add a \
             record with `state`, `tag` and its meaning\n"
        )
    );
    let define = |state: u32| format!("{{ \"state\": {state}, \"tag\": \"nobody\" }}\n");
    fs::write(folder.join("cpus.json"), CPUS.to_owned() + &define(0) + &define(3)).unwrap();
    let ended = run(&folder, "check cpus.json");
    assert_eq!(ended.stdout(), "cpus.json: ok, 4 entities, 8 changes of state\n");
    let ended = run(&folder, "check --ours cpus.json");
    assert_eq!(ended.status, Some(1));
    assert!(ended.stderr.contains("this isn't data of tokio-statemap"), "{}", ended.stderr);
}
