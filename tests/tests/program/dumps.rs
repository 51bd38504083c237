//! Pages are written while the program runs, at the moment when something goes wrong.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use tests::child::{Ended, Running, command, names_in};
use tests::files::{folder, line_ending, page};

const MS: Duration = Duration::from_millis(1);

/// A program that runs, with its stderr in a file.
struct Program {
    folder: PathBuf,
    running: Running,
}

impl Program {
    fn start(way: &str, variables: &[(&str, &str)]) -> Self {
        let name = format!("{way}{}", variables.len());
        let folder = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/dumps"), &name);
        let mut command = command(env!("CARGO_BIN_EXE_dumps"), &folder);
        command.arg(way).envs(variables.iter().copied());
        command.stderr(File::create(folder.join("stderr")).unwrap());
        Self { folder, running: Running::start(&mut command) }
    }

    fn stderr(&self) -> String {
        fs::read_to_string(self.folder.join("stderr")).unwrap()
    }

    /// Waits until stderr has `text`.
    fn wait_for(&self, text: &str) {
        for _ in 0..60_000 {
            if self.stderr().contains(text) {
                return;
            }
            sleep(MS);
        }
        panic!("{text:?} isn't printed, but {:?}", self.stderr());
    }

    /// Has it end. Returns its folder, and how it ended.
    fn end(self) -> (PathBuf, Ended) {
        fs::write(self.folder.join("go_on"), "").unwrap();
        let ended = self.running.end();
        let stderr = fs::read_to_string(self.folder.join("stderr")).unwrap();
        assert!(ended.status.success(), "{ended:?} {stderr}");
        (self.folder, Ended { stderr, ..ended })
    }
}

/// Returns the messages, without the folder of the files.
fn messages(folder: &Path, ended: &Ended) -> Vec<String> {
    let folder = format!("{}/", folder.display());
    ended.messages().iter().map(|line| line.replace(&folder, "")).collect()
}

/// Asserts that the page says why it was written. Returns its text.
#[track_caller]
fn assert_page(folder: &Path, number: u32, why: &str) -> String {
    let path = folder.join(format!("shop.dump-{number}.statemap.html"));
    let notes = page(&path).meta["notes"].to_string();
    assert!(notes.contains(&format!("Written while the program ran: {why}")), "{notes}");
    fs::read_to_string(path).unwrap()
}

#[test]
fn a_long_poll_leaves_a_page_with_the_function() {
    let mut program = Program::start("blocks", &[]);
    program.running.wait_for("ready");
    program.wait_for("dump-1.statemap.html");
    let (folder, ended) = program.end();
    let line = messages(&folder, &ended).remove(0);
    let why = line.strip_prefix("tokio-statemap: a poll has held worker-").unwrap_or(&line);
    assert_eq!(&why[1..], " for over 50 ms: wrote shop.dump-1.statemap.html", "{line}");
    let text = assert_page(&folder, 1, "a poll has held worker-");
    assert!(text.contains("tests::programs::dumps::hold_up"));
    let report = fs::read_to_string(folder.join("report.txt")).unwrap();
    let end = "\n\n1 page was written while the program ran (`dump_on`).\n";
    assert!(report.ends_with(end), "{report}");
}

#[test]
fn each_signal_leaves_a_page_up_to_the_limit() {
    let limit = [("TOKIO_STATEMAP_DUMP_LIMIT", "2/h, 1 file")];
    let mut program = Program::start("waits", &limit);
    program.running.wait_for("ready");
    for number in [1, 2] {
        program.running.signal(libc::SIGUSR2);
        program.wait_for(&format!("dump-{number}.statemap.html"));
    }
    program.running.signal(libc::SIGUSR2);
    program.wait_for("`dump_limit`");
    let (folder, ended) = program.end();
    let lines = [
        "tokio-statemap: SIGUSR2: wrote shop.dump-1.statemap.html",
        "tokio-statemap: SIGUSR2: wrote shop.dump-2.statemap.html",
        "tokio-statemap: `dump_limit` of 2/h is reached: further triggers are only counted",
    ];
    assert_eq!(messages(&folder, &ended), lines);
    assert_page(&folder, 2, "SIGUSR2.");
    let files =
        ["go_on", "report.txt", "shop.dump-2.statemap.html", "shop.statemap.html", "stderr"];
    assert_eq!(names_in(&folder), files);
    let notes = page(folder.join("shop.statemap.html")).meta["notes"].to_string();
    let end = "2 pages were written while the program ran (`dump_on`). 1 page was removed again (`dump_limit`). \
        1 trigger led to no page, as there were too many (`dump_limit`).";
    assert!(notes.contains(end), "{notes}");
}

/// Each writes to the next number that is free, so both keep their pages.
#[test]
fn two_processes_in_one_folder_replace_no_page_of_each_other() {
    let variables =
        [("TOKIO_STATEMAP_DUMP_LIMIT", "9/h, 5 files"), ("TOKIO_STATEMAP_DUMP_AFTER", "0s")];
    let mut one = Program::start("waits", &variables);
    let folder = one.folder.clone();
    let mut second = command(env!("CARGO_BIN_EXE_dumps"), &folder);
    second.arg("waits").envs(variables).stderr(File::create(folder.join("stderr-2")).unwrap());
    let mut second = Running::start(&mut second);
    one.running.wait_for("ready");
    second.wait_for("ready");
    let lines = || {
        let texts =
            ["stderr", "stderr-2"].map(|name| fs::read_to_string(folder.join(name)).unwrap());
        let mut lines: Vec<_> = texts.concat().lines().map(|line| line.to_owned()).collect();
        lines.sort();
        lines
    };
    for pages in [2, 4, 6] {
        one.running.signal(libc::SIGUSR2);
        second.signal(libc::SIGUSR2);
        for _ in 0..60_000 {
            if lines().len() == pages {
                break;
            }
            sleep(MS);
        }
    }
    let path = folder.join("shop.dump-").display().to_string();
    let wrote = |number| format!("tokio-statemap: SIGUSR2: wrote {path}{number}.statemap.html");
    assert_eq!(lines(), [1, 2, 3, 4, 5, 6].map(wrote));
    one.end();
    second.end();
    // Either process removes the oldest.
    let pages: Vec<_> =
        names_in(&folder).into_iter().filter(|name| name.contains("dump")).collect();
    assert_eq!(pages, [2, 3, 4, 5, 6].map(|number| format!("shop.dump-{number}.statemap.html")));
}

#[test]
fn a_caught_panic_leaves_a_page_and_the_programs_own_message() {
    let mut program = Program::start("panics", &[]);
    program.running.wait_for("the task panicked: true");
    program.wait_for("dump-1.statemap.html");
    let (folder, ended) = program.end();
    let line = line_ending(include_str!("../../src/programs/dumps.rs"), "// the panic");
    let why = format!("a panic at tests/src/programs/dumps.rs:{line}:");
    assert_page(&folder, 1, &why);
    let [only] = &messages(&folder, &ended)[..] else { panic!("{ended:?}") };
    assert!(only.starts_with(&format!("tokio-statemap: {why}")), "{only}");
    let without = Program::start("panics", &[("TOKIO_STATEMAP", "0")]).end().1;
    let own = Ended { stderr: ended.stderr.replace(ended.messages()[0], ""), ..ended };
    assert_eq!(own.comparable_stderr().replace("\n\n", "\n"), without.comparable_stderr());
}

#[test]
fn a_stall_is_polls_on_all_workers() {
    let program = Program::start("stalls", &[("TOKIO_STATEMAP_DUMP_ON", "stall > 20ms")]);
    program.wait_for("dump-1.statemap.html");
    let (folder, ended) = program.end();
    let line = "tokio-statemap: polls have held all workers for over 20 ms: wrote shop.dump-1.statemap.html";
    assert_eq!(messages(&folder, &ended), [line]);
    let text = assert_page(&folder, 1, "polls have held all workers for over 20 ms.");
    assert!(text.contains("tests::programs::dumps::stall"));
    // One of the workers goes on meanwhile.
    let program =
        Program::start("blocks", &[("TOKIO_STATEMAP_DUMP_ON", "stall > 20ms"), ("OTHER", "")]);
    let (folder, ended) = program.end();
    assert_eq!(messages(&folder, &ended), [""; 0]);
}

#[test]
fn a_task_that_is_ready_for_long_leaves_a_page() {
    let program =
        Program::start("stalls", &[("TOKIO_STATEMAP_DUMP_ON", "ready > 300ms"), ("OTHER", "1")]);
    program.wait_for("dump-1.statemap.html");
    let (folder, ended) = program.end();
    let why = &messages(&folder, &ended)[0];
    let task = why.strip_prefix("tokio-statemap: ").and_then(|why| why.split(' ').next());
    let task = task.unwrap_or_default();
    assert!(why.contains(" was ready for over 300 ms"), "{why}");
    assert_page(&folder, 1, &format!("{task} was ready for over 300 ms"));
}

#[test]
fn a_task_that_waits_for_long_in_certain_files_leaves_a_page() {
    let here = "wait > 1h, wait > 300ms at tests/src/*/d?mps.rs";
    let program = Program::start("forgets", &[("TOKIO_STATEMAP_DUMP_ON", here)]);
    program.wait_for("dump-1.statemap.html");
    let (folder, ended) = program.end();
    let line = line_ending(include_str!("../../src/programs/dumps.rs"), "// the wait");
    let place =
        format!(" has waited for over 300 ms at tests/src/programs/dumps.rs:{line}: wrote ");
    // It is only found once.
    let [only] = &messages(&folder, &ended)[..] else { panic!("{ended:?}") };
    assert!(only.starts_with("tokio-statemap: task-") && only.contains(&place), "{only}");
}

#[test]
fn a_file_that_appears_or_changes_leaves_a_page() {
    let mut program = Program::start("waits", &[("TOKIO_STATEMAP_DUMP_ON", "file = {bin}.ask")]);
    program.running.wait_for("ready");
    for number in [1, 2] {
        fs::write(program.folder.join("dumps.ask"), number.to_string()).unwrap();
        program.wait_for(&format!("dump-{number}.statemap.html"));
    }
    let (folder, ended) = program.end();
    let line = |n| {
        format!(
            "tokio-statemap: the file of `dump_on` was changed: wrote shop.dump-{n}.statemap.html"
        )
    };
    assert_eq!(messages(&folder, &ended), [line(1), line(2)]);
}

#[test]
fn the_program_gets_each_page() {
    let mut program = Program::start("uploads", &[]);
    program.running.wait_for("ready").signal(libc::SIGUSR2).wait_for("the last one");
    let (folder, ended) = program.end();
    let page = folder.join("shop.dump-1.statemap.html");
    assert!(ended.stdout.contains(&format!("{} is true\n", page.display())), "{ended:?}");
    assert!(ended.stderr.contains("the network is down"), "{ended:?}");
    let lines = [
        "tokio-statemap: SIGUSR2: wrote shop.dump-1.statemap.html",
        "tokio-statemap: a function that was given to `on_dump` has panicked",
    ];
    assert_eq!(messages(&folder, &ended), lines);
}

#[test]
fn a_program_may_ask_for_a_page() {
    let mut program = Program::start("asks", &[]);
    program.running.wait_for("ready");
    let now = page(program.folder.join("now.html"));
    assert!(now.rows("workers") > 0);
    let (folder, ended) = program.end();
    let error = format!("{}: No such file or directory", folder.join("missing/now.html").display());
    assert!(ended.stdout.starts_with(&error), "{ended:?}");
    assert_eq!(messages(&folder, &ended), [""; 0]);
}

#[test]
fn the_end_waits_for_no_page() {
    let program = Program::start("ends", &[("TOKIO_STATEMAP_DUMP_AFTER", "1h")]);
    let (folder, ended) = program.end();
    assert_eq!(messages(&folder, &ended), [""; 0]);
    assert_eq!(names_in(&folder), ["go_on", "report.txt", "shop.statemap.html", "stderr"]);
    let report = fs::read_to_string(folder.join("report.txt")).unwrap();
    let end = "\n\n1 page was not written, as the program ended first (`dump_on`).\n";
    assert!(report.ends_with(end), "{report}");
}

#[test]
fn a_variable_that_can_not_be_read_is_ignored() {
    let variables = [
        ("TOKIO_STATEMAP_DUMP_ON", "off"),
        ("TOKIO_STATEMAP_DUMP_LIMIT", "many"),
        ("TOKIO_STATEMAP_DUMP_AFTER", "1"),
    ];
    let (folder, ended) = Program::start("panics", &variables).end();
    assert_eq!(messages(&folder, &ended), [""; 0]);
    assert_eq!(names_in(&folder), ["go_on", "report.txt", "shop.statemap.html", "stderr"]);

    let other = ("OTHER", "");
    let variables = [("TOKIO_STATEMAP_DUMP_ON", "pnaic"), variables[1], variables[2], other];
    let program = Program::start("panics", &variables);
    program.wait_for("dump-1.statemap.html");
    let (folder, ended) = program.end();
    let lines = messages(&folder, &ended);
    let starts = [
        "tokio-statemap: TOKIO_STATEMAP_DUMP_ON=\"pnaic\" is ignored: `pnaic` is no trigger; it can be `poll > ",
        "tokio-statemap: TOKIO_STATEMAP_DUMP_LIMIT=\"many\" is ignored: `many` is no limit; it can be a number of ",
        "tokio-statemap: TOKIO_STATEMAP_DUMP_AFTER=\"1\" is ignored: it must be a number and ns, us, ms, s, m or h",
        "tokio-statemap: a panic at ",
    ];
    assert_eq!(lines.len(), starts.len(), "{lines:?}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}");
    }
}
