//! Long polls are reported while they last: on stderr by `warn_after`, whatever becomes of stderr, and to a listener that
//! may panic.
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
use std::time::{Duration, Instant};

use tests::child::{Running, command};
use tests::files::{data, folder, line_ending};
use tests::full::full_pipe;

/// The timeout for a program that waits for readers, for 10 s in total.
const PATIENCE: Duration = Duration::from_secs(90);
const MS: Duration = Duration::from_millis(1);

fn warns(name: &str, way: &str) -> (PathBuf, Command) {
    let folder = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/live"), name);
    let mut command = command(env!("CARGO_BIN_EXE_warns"), &folder);
    command.arg(way);
    (folder, command)
}

fn line(end: &str) -> usize {
    line_ending(include_str!("../../src/programs/warns.rs"), end)
}

#[test]
fn a_block_names_the_function_the_line_the_task_and_the_worker() {
    let (folder, mut command) = warns("named", "holds");
    let printed = folder.join("stderr");
    command.stderr(File::create(&printed).unwrap());
    let running = Running::start(&mut command);
    // A function of the block, whose own lines only the task's function follows.
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
    data(folder.join("tasks.json"));
    // A poll that waited for a processor has no function.
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
    wait_until_warned(&folder);
    fs::write(folder.join("go_on"), "").unwrap();
    let ended = running.end_within(PATIENCE);
    assert!(ended.status.success() && ended.stdout.ends_with("the last line\n"), "{ended:?}");
    assert_eq!(ended.stderr, "");
    data(folder.join("tasks.json"));
}

/// Waits until a poll was handed to the printer.
fn wait_until_warned(folder: &Path) {
    let began = Instant::now();
    while !folder.join("told").exists() {
        assert!(began.elapsed() < PATIENCE, "no poll is reported");
        sleep(MS);
    }
}

/// Runs a program whose stderr nobody reads, for `time` and until a poll waits to be printed. Returns its folder, the
/// program and the reader.
fn unread(name: &str, time: Duration) -> (PathBuf, Running, File) {
    let (folder, mut command) = warns(name, "holds");
    let (reader, stderr) = full_pipe();
    let running = Running::start(command.stderr(stderr));
    wait_until_warned(&folder);
    sleep(time);
    fs::write(folder.join("go_on"), "").unwrap();
    (folder, running, reader)
}

#[track_caller]
fn assert_ends(folder: &Path, running: Running) {
    let ended = running.end_within(PATIENCE);
    assert!(ended.status.success(), "{ended:?}");
    let ends = [0, 1].map(|printers| format!("printers: {printers}\nthe last line\n"));
    assert!(ends.iter().any(|end| ended.stdout.ends_with(end)), "{ended:?}");
    data(folder.join("tasks.json"));
}

/// Reads stderr once the program waits for that at its end. It prints the report and the number of polls that weren't
/// shown.
#[track_caller]
fn read_late(folder: &Path, running: Running, mut reader: File) {
    // The report comes last.
    let began = Instant::now();
    while !folder.join("tasks.json").exists() {
        assert!(began.elapsed() < PATIENCE, "it isn't written");
        sleep(MS);
    }
    // On an idle machine the reader wouldn't be late otherwise.
    sleep(300 * MS);
    let reads = thread::spawn(move || {
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        text
    });
    assert_ends(folder, running);
    let text = reads.join().unwrap();
    let text = text.trim_start_matches('.');
    assert!(text.contains("Written: ") && text.contains("tasks.json"), "{text}");
    let last = text.lines().last().unwrap_or_default();
    let (has, is_of) = (last.contains(" of that length w"), last.ends_with(" not shown"));
    assert!(has && is_of && text.ends_with('\n'), "{text}");
}

#[test]
fn stderr_is_read_late() {
    let (folder, running, reader) = unread("late", Duration::ZERO);
    read_late(&folder, running, reader);
}

/// The printer's wait takes nothing from the 10 s for which the end of a program may wait for readers.
#[test]
#[ignore = "slow: waits for more than the 10 s that a program's end waits, and for these"]
fn stderr_is_not_read_for_long() {
    thread::scope(|scope| {
        let time = 12_000 * MS;
        scope.spawn(move || {
            let (folder, running, reader) = unread("late_for_long", time);
            read_late(&folder, running, reader);
        });
        scope.spawn(move || {
            let (folder, running, _reader) = unread("unread", time);
            assert_ends(&folder, running);
        });
    });
}

#[test]
fn a_listener_that_panics_is_called_again() {
    let folder = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/live"), "panics");
    let ended =
        Running::start(command(env!("CARGO_BIN_EXE_sampled"), &folder).arg("listener")).end();
    assert!(ended.status.success() && ended.stdout.ends_with("the last line\n"), "{ended:?}");
    assert_eq!(ended.stdout.lines().count(), 4, "{ended:?}");
    assert!(ended.stderr.matches("the closure's own").count() >= 2, "{ended:?}");
}
