//! On a signal the program prints the trees of all tasks and goes on.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tests::child::{Running, command};
use tests::files::{data, folder, line_ending};

const MS: Duration = Duration::from_millis(1);
/// The beginning of each output.
const TREES: &str = "tokio-statemap at ";

fn program(way: &str) -> (PathBuf, Command) {
    let folder = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/trees"), way);
    let mut command = command(env!("CARGO_BIN_EXE_trees"), &folder);
    command.arg(way);
    command.stderr(File::create(folder.join("stderr")).unwrap());
    (folder, command)
}

fn line(end: &str) -> usize {
    line_ending(include_str!("../../src/programs/trees.rs"), end)
}

/// Asks the program for its trees until they are as expected. What its tasks do when it is asked depends on the machine.
fn ask_until(running: &mut Running, folder: &Path, is_expected: impl Fn(&str) -> bool) {
    let printed = || fs::read_to_string(folder.join("stderr")).unwrap();
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(60) {
        running.signal(libc::SIGUSR1);
        for _ in 0..100 {
            if printed().rsplit(TREES).next().is_some_and(&is_expected) {
                return;
            }
            sleep(MS);
        }
    }
    panic!("{}", printed());
}

/// Waits until the program has printed `text`, and returns all its output.
fn wait_for(folder: &Path, text: &str) -> String {
    for _ in 0..60_000 {
        let printed = fs::read_to_string(folder.join("stderr")).unwrap();
        if printed.contains(text) {
            return printed;
        }
        sleep(MS);
    }
    panic!("{}", fs::read_to_string(folder.join("stderr")).unwrap());
}

fn at(end: &str) -> String {
    format!("tests/src/programs/trees.rs:{}", line(end))
}

#[test]
fn a_signal_prints_trees() {
    let (folder, mut command) = program("waits");
    let mut running = Running::start(&mut command);
    running.wait_for("ready");
    let locks = "tests::programs::trees::locks at ";
    let parts = [
        ": 7 tasks: 7 waiting.\n".to_owned(),
        "main (tests/src/bin/trees.rs:".to_owned(),
        format!("until_told at {}\n", at("// is told")),
        format!(
            " and 2 other tasks (spawned at tests/src/programs/trees.rs:{}",
            line("tokio_statemap::spawn(locks(Arc::clone(&mutex)));")
        ),
        format!("{locks}{}\n  └ tokio::sync::mutex::Mutex<T>::lock\n", at("// locks")),
        format!(
            " \"both of them\" (spawned at tests/src/programs/trees.rs:{}:",
            line("named.spawn(joins()).unwrap();")
        ),
        format!(
            "\n  tests::programs::trees::joins at {}\n  ├ tests::programs::trees::",
            at("// joins")
        ),
        format!("sleep_long at {}\n", at("// sleeps")),
        format!("is_notified at {}\n", at("// is notified")),
        "nothing will wake the task\n\n".to_owned(),
    ];
    // The output may be read before it is complete.
    ask_until(&mut running, &folder, |text| parts.iter().all(|part| text.contains(part)));

    fs::write(folder.join("go_on"), "").unwrap();
    let ended = running.end();
    assert!(ended.status.success() && ended.stdout.ends_with("the last line\n"), "{ended:?}");
    data(folder.join("tasks.json"));
}

#[test]
fn a_stuck_poll_is_shown_with_its_stack() {
    let (folder, mut command) = program("is_stuck");
    let mut running = Running::start(&mut command);
    running.wait_for("ready");
    let held = format!("tests::programs::trees::hold_worker at {}", at("// stuck"));
    ask_until(&mut running, &folder, |text| {
        let has = |part| text.contains(part);
        has("blocked in clock_nanosleep") && has(" is polled for ") && has(&held)
    });
    fs::write(folder.join("go_on"), "").unwrap();
    let ended = running.end();
    assert!(ended.status.success() && ended.stdout.ends_with("the last line\n"), "{ended:?}");
}

#[test]
fn a_thousand_signals_change_nothing() {
    let (folder, mut command) = program("works");
    let mut running = Running::start(&mut command);
    running.wait_for("ready");
    // Signals that come together are one, so the test goes on until there are several answers.
    let trees = || fs::read_to_string(folder.join("stderr")).unwrap().matches(TREES).count();
    let since = Instant::now();
    for signals in 0.. {
        running.signal(libc::SIGUSR1);
        if signals < 1000 {
            sleep(MS / 4);
            continue;
        }
        // An answer needs a processor, too: on a busy machine it takes seconds.
        sleep(20 * MS);
        if trees() > 5 {
            break;
        }
        assert!(since.elapsed() < Duration::from_secs(300), "{}", trees());
    }
    fs::write(folder.join("go_on"), "").unwrap();
    let ended = running.end();
    assert!(ended.status.success(), "{ended:?}");
    let polls = ended.stdout.strip_prefix("ready\n10000 of 10000\n");
    let polls = polls.and_then(|rest| rest.strip_suffix("\nthe last line\n"));
    let polls = polls.unwrap_or_else(|| panic!("{ended:?}"));
    let printed = wait_for(&folder, "Spawn locations");
    // The trees before it may say "for 200 µs".
    let (_, table) = printed.split_once("Spawn locations").unwrap();
    let row = table.lines().find(|line| line.contains("trees.rs:") && line.contains(" 200 "));
    let row = row.unwrap_or_else(|| panic!("{printed}"));
    assert!(row.contains(&format!(" {polls} ")), "{polls}: {row}");
}

#[test]
fn a_handler_of_the_programs_own_stays() {
    let (_, mut command) = program("handles");
    let mut running = Running::start(&mut command);
    running.wait_for("ready").signal(libc::SIGUSR1).wait_for("handled");
    assert!(running.end().status.success());
}

#[test]
fn a_child_of_a_fork_prints_none() {
    let (folder, mut command) = program("forks");
    let ended = Running::start(&mut command).end();
    let died = format!("the child died of {}\nthe last line\n", libc::SIGUSR1);
    assert_eq!(ended.stdout, died);
    assert_eq!(ended.status.signal(), None);
    let printed = fs::read_to_string(folder.join("stderr")).unwrap();
    assert!(!printed.contains(TREES.trim_end()), "{printed}");
}
