//! `--begin` and `--duration` keep the content of that time.

use std::fs;

use super::binary::{folder, run, tasks, workers};
use super::page::{Page, Section};

fn changes(section: &Section, row: usize) -> Vec<(u64, &str)> {
    let changes = section.rows[row].changes.iter();
    changes.map(|&(time, state, _)| (time, section.states[state].0.as_str())).collect()
}

#[test]
fn the_state_at_the_left_edge_is_kept() {
    let folder = folder("window");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    fs::write(folder.join("workers.json"), workers()).unwrap();
    let page = |window: &str| {
        run(&folder, &format!("render tasks.json workers.json -o out.html {window}")).stdout();
        Page::read(&fs::read(folder.join("out.html")).unwrap())
    };
    let cut = page("--begin 10ms --duration 43.5ms");
    assert_eq!(cut.length_ns, 43_500_000);
    assert_eq!(cut.meta["start"].to_string(), "[1000,10000000]");
    let [workers, tasks] = &cut.sections[..] else { panic!("two sections") };
    assert_eq!(changes(workers, 0), [(0, "running")]);
    assert_eq!(tasks.groups, [("main".to_owned(), 1), ("src/api.rs:88:20".to_owned(), 1)]);
    assert_eq!(changes(tasks, 0), [(0, "waiting")]);
    assert_eq!(changes(tasks, 1), [(0, "running"), (41_900_000, "waiting"), (43_000_000, "ready")]);
    // A task that ended before is left out.
    let cut = page("--begin 55ms");
    assert_eq!(cut.length_ns, 5_000_000);
    assert_eq!(changes(&cut.sections[0], 0), [(0, "parked"), (4_000_000, "stopped")]);
    assert_eq!(cut.sections[1].rows.len(), 1);
    // A longer window shows all.
    assert_eq!(page("--duration 1h").length_ns, 60_000_000);
    assert_eq!(page("--begin 0s").sections[1].rows.len(), 2);
}

#[test]
fn a_window_behind_the_end_is_an_error() {
    let folder = folder("window_behind");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    let ended = run(&folder, "render tasks.json -o out.html --begin 1s");
    assert_eq!(ended.status, Some(1));
    let line = "tokio-statemap: tasks.json: there is nothing in this window; --begin counts from the \
                start of the data\n";
    assert_eq!(ended.stderr, line);
    assert!(!folder.join("out.html").exists());
}

#[test]
fn the_window_is_one_of_the_time_that_the_files_have_in_common() {
    let folder = folder("window_common");
    let later = |start: &str| workers().replace("[1000,0]", start);
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    fs::write(folder.join("workers.json"), later("[1000,20000000]")).unwrap();
    let page = |args: &str| {
        run(&folder, &format!("render tasks.json workers.json -o out.html {args}")).stdout();
        Page::read(&fs::read(folder.join("out.html")).unwrap())
    };
    let all = page("");
    assert_eq!(all.length_ns, 80_000_000);
    assert_eq!(changes(&all.sections[0], 0)[0], (20_000_000, "running"));
    let main = [(0, "running"), (500_000, "waiting"), (60_000_000, "not recorded")];
    assert_eq!(changes(&all.sections[1], 0), main);
    assert!(all.notes().contains(&"api (1) ends at 0.060 s."), "{:?}", all.notes());
    let cut = page("--begin 15ms --duration 10ms");
    assert_eq!(cut.length_ns, 10_000_000);
    assert_eq!(
        changes(&cut.sections[0], 0),
        [(5_000_000, "running"), (5_500_000, "parked"), (5_700_000, "running")].map(|c| (c.0, c.1))
    );
    // Files of different times all begin at the left edge, and the page says so.
    fs::write(folder.join("workers.json"), later("[2000,0]")).unwrap();
    let apart = page("");
    assert_eq!(apart.length_ns, 60_000_000);
    assert_eq!(changes(&apart.sections[0], 0)[0], (0, "running"));
    let note = "The files are from different times: each begins at the left edge.";
    assert!(apart.notes().contains(&note), "{:?}", apart.notes());
    let cut = page("--begin 10ms");
    assert_eq!((cut.length_ns, changes(&cut.sections[0], 0)[0]), (50_000_000, (0, "running")));
}
