//! Long polls are told while they go on: on stderr by `warn_after`, whatever becomes of stderr, and to a
//! closure that may panic.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, sleep};
use std::time::Duration;

use tests::child::{Running, command, folder};
use tests::full::full_pipe;

/// The timeout for a program that waits for readers, 10 s in all.
const PATIENCE: Duration = Duration::from_secs(45);
const MS: Duration = Duration::from_millis(1);

fn warns(name: &str, way: &str) -> (PathBuf, Command) {
    let folder = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/live"), name);
    let mut command = command(env!("CARGO_BIN_EXE_warns"), &folder);
    command.arg(way);
    (folder, command)
}

/// The number of the line in the program's source that ends so.
fn line(end: &str) -> usize {
    let source = include_str!("../src/programs/warns.rs");
    source.lines().position(|line| line.ends_with(end)).expect("it is there") + 1
}

#[track_caller]
fn assert_complete(folder: &Path) {
    let tasks = fs::read(folder.join("tasks.json")).expect("it is written");
    tests::check::check(&tasks).expect("it is complete");
}

#[test]
fn a_block_names_the_function_the_line_the_task_and_the_worker() {
    let (folder, mut command) = warns("named", "holds");
    let printed = folder.join("stderr");
    command.stderr(File::create(&printed).unwrap());
    let running = Running::start(&mut command);
    // A function of the block, which ends it but for that of the task.
    let last = format!(
        "\n    tests::programs::warns::hold_up at tests/src/programs/warns.rs:{}",
        line("// the line")
    );
    for _ in 0..60_000 {
        if fs::read_to_string(&printed).unwrap().contains(&last) {
            break;
        }
        sleep(MS);
    }
    fs::write(folder.join("go_on"), "").unwrap();
    let ended = running.end();
    let text = fs::read_to_string(&printed).unwrap();
    assert!(ended.status.success() && ended.stdout.ends_with("the last line\n"), "{ended:?}");
    assert_complete(&folder);
    // One that has waited for a processor has no function.
    let mut blocks = text.split("tokio-statemap: a poll has held worker-");
    let block = blocks.find(|block| block.contains(&last)).expect("it was there");
    let lines: Vec<_> = block.lines().collect();
    let place = format!(", spawned at tests/src/programs/warns.rs:{}:", line("// the spawn"));
    assert!(lines[0].contains(" ms: task-") && lines[0].contains(&place), "{text}");
    assert_eq!(lines[1], format!("  blocked in clock_nanosleep in {}:", last.trim()), "{text}");
}

#[test]
fn stderr_is_closed() {
    let (folder, mut command) = warns("closed", "closes_stderr");
    let running = Running::start(&mut command);
    // In which it is tried to print it.
    sleep(1000 * MS);
    fs::write(folder.join("go_on"), "").unwrap();
    let ended = running.end_within(PATIENCE);
    assert!(ended.status.success() && ended.stdout.ends_with("the last line\n"), "{ended:?}");
    assert_eq!(ended.stderr, "");
    assert_complete(&folder);
}

/// A program whose stderr nobody reads, for as long as it takes to use up what its end may wait for
/// readers, if that is what is used; and the reader.
fn unread(name: &str) -> (PathBuf, Running, File) {
    let (folder, mut command) = warns(name, "holds");
    let (reader, stderr) = full_pipe();
    let running = Running::start(command.stderr(stderr));
    sleep(12_000 * MS);
    fs::write(folder.join("go_on"), "").unwrap();
    (folder, running, reader)
}

#[track_caller]
fn assert_ends(folder: &Path, running: Running) {
    let ended = running.end_within(PATIENCE);
    assert!(ended.status.success(), "{ended:?}");
    let ends = [0, 1].map(|printers| format!("printers: {printers}\nthe last line\n"));
    assert!(ends.iter().any(|end| ended.stdout.ends_with(end)), "{ended:?}");
    assert_complete(folder);
}

#[test]
fn stderr_is_not_read() {
    let (folder, running, _reader) = unread("unread");
    assert_ends(&folder, running);
}

#[test]
fn stderr_is_read_late() {
    let (folder, running, mut reader) = unread("late");
    // The report comes last.
    while !folder.join("tasks.json").exists() {
        sleep(MS);
    }
    sleep(300 * MS);
    let reads = thread::spawn(move || {
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        text
    });
    assert_ends(&folder, running);
    let text = reads.join().unwrap();
    let text = text.trim_start_matches('.');
    assert!(text.contains("Written: ") && text.contains("tasks.json"), "{text}");
    assert!(text.ends_with(" polls of that length were not shown\n"), "{text}");
}

#[test]
fn a_closure_that_panics_is_told_on() {
    let folder = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/live"), "panics");
    let ended = Running::start(command(env!("CARGO_BIN_EXE_sampled"), &folder).arg("told")).end();
    assert!(ended.status.success() && ended.stdout.ends_with("the last line\n"), "{ended:?}");
    assert_eq!(ended.stdout.lines().count(), 4, "{ended:?}");
    assert!(ended.stderr.matches("the closure's own").count() >= 2, "{ended:?}");
}
