//! Runtimes that are built by hand: several in one recording, recording on demand, and what a user may forget.
#![cfg(unix)]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;

use tests::child::{Ended, Running, command, folder, names_in};
use tests::files::{data, page};

const BUILT: &str = env!("CARGO_BIN_EXE_built");

/// Runs the program in the variant `way`. Returns its folder, and how it ended.
fn run(way: &str, variables: &[(&str, &str)], act: impl Fn(&mut Running)) -> (PathBuf, Ended) {
    let name = format!("{way}{}", variables.len());
    let folder = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/by_hand"), &name);
    let mut command = command(BUILT, &folder);
    let mut running = Running::start(command.arg(way).envs(variables.iter().copied()));
    act(&mut running);
    (folder, running.end())
}

#[test]
fn several_runtimes_leave_one_page_and_one_report() {
    type Check = fn(&Ended) -> bool;
    let ways: [(&str, Check); 3] = [
        ("several", |ended| ended.status.success()),
        ("several_exit", |ended| ended.status.code() == Some(3)),
        ("several_wait", |ended| ended.status.signal() == Some(libc::SIGTERM)),
    ];
    for (way, ends_well) in ways {
        let (folder, ended) = run(way, &[], |running| {
            if way == "several_wait" {
                running.wait_for("ready").signal(libc::SIGTERM);
            }
        });
        assert!(ends_well(&ended), "{way}: {:?} {}", ended.status, ended.stderr);
        assert_eq!(ended.messages(), [""; 0], "{way}");
        let mut files = vec!["report.txt", "statemap.html"];
        files.extend(["tasks.blocked.json", "tasks.calm.json", "tasks.runtime-3.json"]);
        files.extend(["workers.blocked.json", "workers.calm.json", "workers.runtime-3.json"]);
        assert_eq!(names_in(&folder), files, "{way}");
        let report = fs::read_to_string(folder.join("report.txt")).unwrap();
        let page = page(folder.join("statemap.html"));
        for runtime in ["calm", "blocked", "runtime-3"] {
            let workers = data(folder.join(format!("workers.{runtime}.json")));
            assert!(workers.entities.contains_key(&format!("{runtime}/worker-0")), "{workers:?}");
            assert!(report.contains(&format!("Runtime {runtime} (")), "{report}");
        }
        if cfg!(tokio_unstable) {
            assert!(report.starts_with("Runtime blocked (1 of 3, the worst first)"), "{report}");
            let sections = page.meta["sections"].as_array().unwrap();
            let titles: Vec<_> = sections.iter().filter_map(|s| s["title"].as_str()).collect();
            for title in
                ["Tasks of calm", "Tasks of blocked", "Tasks of runtime-3", "Workers of calm"]
            {
                assert!(titles.contains(&title), "{titles:?}");
            }
            assert_eq!(page.rows("workers"), 3);
        }
    }
}

#[test]
fn runtimes_may_come_and_go_by_the_hundred() {
    let (folder, ended) = run("many", &[], |_| {});
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert_eq!(ended.messages(), [""; 0]);
    let report = fs::read_to_string(folder.join("report.txt")).unwrap();
    if cfg!(tokio_unstable) {
        // Usually it is the newest, but on a busy machine one of the others had to wait.
        assert!(report.starts_with("Runtime runtime-"), "{report}");
        assert!(
            report.lines().next().is_some_and(|line| line.contains(" (1 of 256, the worst first)")),
            "{report}"
        );
    }
    assert!(report.contains("45 runtimes that ended earlier are not shown"), "{report}");
    page(folder.join("statemap.html"));
}

#[test]
fn the_newest_runtime_that_ended_is_kept() {
    let (folder, ended) = run("busy_and_ended", &[], |_| {});
    assert_eq!(ended.messages(), [""; 0]);
    let report = fs::read_to_string(folder.join("report.txt")).unwrap();
    assert!(report.contains("Runtime busy (") && report.contains(" of 2"), "{report}");
}

#[test]
fn runtimes_after_the_window_take_nobodys_place() {
    let (folder, ended) = run("after_the_window", &[], |_| {});
    assert_eq!(ended.messages(), [""; 0]);
    let files = ["report.txt", "statemap.html", "tasks.json", "workers.json"];
    assert_eq!(names_in(&folder), files);
    let workers = data(folder.join("workers.json"));
    assert!(workers.entities.contains_key("first/worker-0"), "{workers:?}");
}

#[test]
fn a_late_start_needs_no_root_future() {
    let (folder, ended) = run("late_start", &[], |_| {});
    assert_eq!(ended.messages(), [""; 0]);
    let report = fs::read_to_string(folder.join("report.txt")).unwrap();
    assert!(!report.contains("`start_after`") && report.contains(" recorded"), "{report}");
    assert_eq!(data(folder.join("workers.json")).entities.len(), 1);
}

#[test]
fn what_a_user_forgets_is_said_in_one_line() {
    for (way, words) in [
        ("never_started", "a `Recording` was dropped before `start(&mut builder)`"),
        ("started_after_build", "call `Recording::start` before `build`"),
        ("dropped_early", "threads of a runtime still run as its recording is dropped"),
        ("started_twice", "add further runtimes with `Recording::runtime`"),
        ("runtime_before_start", "call `Recording::start` before `Recording::runtime`"),
        ("key_after_start", "give it before `start`"),
    ] {
        let (folder, ended) = run(way, &[], |_| {});
        assert!(ended.stdout.ends_with("the last line\n"), "{way}: {}", ended.stderr);
        let messages = ended.messages();
        assert_eq!(messages.len(), 1, "{way}: {messages:?}");
        assert!(messages[0].contains(words), "{way}: {messages:?}");
        // The page shows what was recorded until then.
        if way != "never_started" {
            page(folder.join("statemap.html"));
        }
    }
}

#[test]
fn an_invalid_key_is_an_error_that_says_what_is_valid() {
    let (folder, ended) = run("invalid", &[], |_| {});
    let lines: Vec<_> = ended.stdout.lines().collect();
    assert!(lines[0].contains("`buffer_capacity`") && lines[0].contains("at least 1"), "{lines:?}");
    assert!(lines[1].contains("`max_events`") && lines[1].contains("at least 1"), "{lines:?}");
    assert!(lines[2].contains("`dump_signal`") && lines[2].contains("SIGUSR1"), "{lines:?}");
    let trigger = "`dump_on` is invalid: `SIGKILL` is no trigger; it can be ";
    assert!(lines[3].starts_with(trigger) && lines[3].contains("SIGUSR1"), "{lines:?}");
    let limit =
        "`dump_limit` is invalid: `0 files` may not be 0: leave out `dump_on` to have no pages";
    assert_eq!(lines[4], limit);
    assert_eq!(ended.messages(), [""; 0]);
    assert_eq!(names_in(&folder), [""; 0]);
}

#[test]
fn it_records_on_demand() {
    let threads = |ended: &Ended| ended.stdout.lines().next().map(str::to_owned);
    let (folder, without) = run("from_env", &[], |_| {});
    assert!(without.status.success() && without.stderr.is_empty(), "{}", without.stderr);
    assert_eq!(names_in(&folder), [""; 0]);
    if cfg!(target_os = "linux") {
        // `main` and the worker.
        assert_eq!(threads(&without).as_deref(), Some("2 threads"));
    }
    let (folder, ended) = run("from_env", &[("TOKIO_STATEMAP", "1")], |_| {});
    assert!(ended.stderr.contains("Report of tokio-statemap"), "{}", ended.stderr);
    assert_eq!(names_in(&folder), ["statemap.html"]);
    page(folder.join("statemap.html"));
    let more = [("TOKIO_STATEMAP", "maybe"), ("OTHER", "")];
    let (folder, ended) = run("from_env", &more, |_| {});
    assert_eq!(ended.messages().len(), 1, "{}", ended.stderr);
    assert_eq!(names_in(&folder), [""; 0]);
}
