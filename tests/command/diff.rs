//! `diff` names a line that takes twice as long first, as text, as JSON and on the page. It reports no
//! difference for equal runs.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tokio_statemap::{CollectorConfig, Event, SpawnLocation, register_hooks};

use super::binary::{folder, run, workers};
use super::page::Page;

const MS: u64 = 1_000_000;

/// Returns the tasks' data of a run of five lines, from `first` on in the source. One of them may take twice
/// as long.
fn data(first: u32, slow: Option<u32>, seed: u64) -> Vec<u8> {
    let mut events = Vec::new();
    let mut random = seed;
    let mut now_ns = MS;
    for n in 0..5 {
        let location = SpawnLocation { file: "src/main.rs", line: first + 10 * n, column: 9 };
        let (task_id, time_ns) = (1 + u64::from(n), u64::from(n));
        events.push(Event::TaskSpawn { task_id, time_ns, thread: 0, location: Some(location) });
    }
    for _ in 0..120 {
        for n in 0..5 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let varies_ns = (random >> 33) % 60_000;
            let length_ns = (170_000 + varies_ns) * if slow == Some(n) { 2 } else { 1 };
            let (task_id, thread, worker) = (1 + u64::from(n), 0, Some(0));
            let ready_ns = Some(now_ns - 20_000);
            events.push(Event::TaskPollStart {
                task_id,
                time_ns: now_ns,
                thread,
                worker,
                ready_ns,
                woken_by: None,
            });
            now_ns += length_ns;
            events.push(Event::TaskPollEnd { task_id, time_ns: now_ns, thread, worker });
            now_ns += 100_000;
        }
    }
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let collector = register_hooks(&mut builder, CollectorConfig::default()).unwrap();
    collector.events_to_data(&events).tasks_to_bytes().unwrap()
}

fn write(folder: &Path, name: &str, data: impl AsRef<[u8]>) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, data).unwrap();
}

fn files(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    write(&folder, "before.json", data(10, None, 1));
    // The source has three lines more above.
    write(&folder, "after.json", data(13, Some(2), 2));
    write(&folder, "same.json", data(10, None, 3));
    folder
}

#[test]
fn the_line_that_got_longer_is_the_first() {
    let folder = files("diff");
    let text = run(&folder, "diff before.json after.json").stdout();
    let verdict = "1 line took longer by more than chance: src/main.rs:30:9 (now src/main.rs:33:9)";
    assert!(text.replace('\n', " ").starts_with(verdict), "{text}");
    let text = run(&folder, "diff before.json same.json").stdout();
    assert!(text.starts_with("Nothing differs by more than chance.\n"), "{text}");

    let json = run(&folder, "diff before.json after.json --format json").stdout();
    let json: Value = serde_json::from_str(&json).unwrap();
    let first = &json["lines"][0];
    assert_eq!(
        (&first["spawnedAt"], &first["polls"]["change"]),
        (&"src/main.rs:30:9".into(), &"longer".into())
    );
    assert_eq!(first["before"]["polls"], 120);
    let factor = first["polls"]["factor"].as_f64().unwrap();
    assert!((1.8..2.2).contains(&factor), "{factor}");

    run(&folder, "diff before.json after.json -o page.html").stdout();
    let page = Page::read(&fs::read(folder.join("page.html")).unwrap());
    assert!(
        page.meta["verdict"].as_str().unwrap().starts_with(verdict),
        "{}",
        page.meta["verdict"]
    );
    let titles: Vec<&str> = page.sections.iter().map(|section| &*section.title).collect();
    assert_eq!(titles, ["Tasks before", "Tasks after"]);
    // Both begin at the left edge.
    for section in &page.sections {
        let starts = section.rows.iter().filter_map(|row| row.changes.first());
        assert!(starts.into_iter().any(|change| change.0 < MS));
    }
}

#[test]
fn a_folder_holds_the_runs_of_a_version() {
    let folder = files("diff-folders");
    for n in 0..3 {
        write(&folder, &format!("old/{n}.json"), data(10, None, 10 + n));
        write(&folder, &format!("new/{n}.json"), data(10, Some(4), 20 + n));
        write(&folder, "new/notes.txt", "not data");
    }
    let text = run(&folder, "diff old new/").stdout();
    assert!(text.contains("src/main.rs:50:9") && text.contains("Before: 3 runs"), "{text}");
    // The files of two runs may be named one by one.
    write(&folder, "workers.json", workers());
    let three = run(&folder, "diff before.json after.json same.json");
    assert_eq!(three.status, Some(2), "{three:?}");
    assert!(three.stderr.contains("these are files of 3 runs, not of two"), "{three:?}");
    for (args, message) in [
        ("diff before.json workers.json", None),
        ("diff before.json missing.json", Some("missing.json")),
        ("diff before.json empty", Some("this folder has no .json or .json.gz files")),
    ] {
        fs::create_dir_all(folder.join("empty")).unwrap();
        let ended = run(&folder, args);
        match message {
            None => assert!(ended.stdout().contains("no tasks were recorded after"), "{args}"),
            Some(message) => {
                assert_eq!(ended.status, Some(1), "{args}");
                assert!(ended.stderr.contains(message), "{args}: {ended:?}");
            }
        }
    }
}

#[test]
fn what_is_no_run_is_refused() {
    let folder = files("diff-others");
    let others = r#"{"start":[0,0],"title":"cpus","states":{"idle":{"value":0}}}
{"time":"0","entity":"cpu-0","state":0}
"#;
    write(&folder, "others.json", others);
    let ended = run(&folder, "diff before.json others.json");
    assert_eq!(ended.status, Some(1));
    assert!(
        ended
            .stderr
            .contains("others.json: this isn't the data of a run as tokio-statemap wrote it"),
        "{ended:?}"
    );
    for args in [
        "diff before.json",
        "diff before.json after.json -o page.pdf",
        "diff before.json after.json --format html",
        "diff before.json after.json -o after.json",
        "diff - -",
    ] {
        let ended = run(&folder, args);
        assert_eq!((ended.status, &*ended.stdout), (Some(2), ""), "{args}: {ended:?}");
    }
}
