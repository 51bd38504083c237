//! Black boxes: what the command shows of processes that run, hang, or were killed.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::build::build;
use tests::check::check;
use tests::child::{self, Running};

use super::binary::{binary, folder, names_in, run};
use super::random::Random;

/// Returns the program, with the folder of its boxes in `folder`.
fn program(folder: &Path) -> (Command, PathBuf) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = build(target, "command", &["build", "--bin", "boxed"], "boxed");
    let boxes = folder.join("boxes");
    fs::create_dir_all(&boxes).unwrap();
    let mut command = child::command(program, folder);
    command.env("TOKIO_STATEMAP_BOX", &boxes);
    (command, boxes)
}

/// Returns the line of the program that has this text.
fn line(text: &str) -> usize {
    let source = include_str!("../src/bin/boxed.rs");
    1 + source.lines().position(|line| line.contains(text)).unwrap()
}

/// Runs `ps` until it says this.
#[track_caller]
fn wait_until_ps_says(folder: &Path, what: &str, said: &str) -> String {
    loop {
        let shown = run(folder, &format!("ps {what}"));
        if shown.status == Some(0) && shown.stdout.contains(said) {
            assert_eq!(shown.stderr, "");
            return shown.stdout;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_process_that_hangs_and_is_killed_shows_where() {
    let folder = folder("boxes-hangs");
    let (mut program, boxes) = program(&folder);
    let mut child = Running::start(program.arg("block"));
    child.wait_for("ready");
    let blocked =
        format!("boxed::blocks_forever at tests/src/bin/boxed.rs:{}", line("thread::sleep"));
    let pid = child.id().to_string();
    let shown = wait_until_ps_says(&folder, "boxes", &blocked);
    assert!(shown.contains(&format!("boxed (process {pid}) runs")), "{shown}");
    assert!(shown.contains("blocked in clock_nanosleep"), "{shown}");
    let waits = format!("boxed::waits at tests/src/bin/boxed.rs:{}", line("lock.lock().await"));
    assert!(shown.contains(&waits), "{shown}");
    // By its id, and while it is stopped.
    child.signal(libc::SIGSTOP);
    let stopped = wait_until_ps_says(&folder, &pid, &blocked);
    assert!(stopped.contains("runs; as of"), "{stopped}");
    run(&folder, &format!("snapshot {pid} -o now.html")).stdout();
    run(&folder, "check --ours now.html").stdout();

    child.signal(libc::SIGKILL);
    assert_eq!(child.end().status.signal(), Some(libc::SIGKILL));
    assert!(!folder.join("boxed.html").exists());
    let dead = wait_until_ps_says(&folder, "boxes", "is dead");
    assert!(dead.contains(&blocked), "{dead}");
    let report = run(&folder, "recover boxes").stdout();
    assert!(report.contains("blocks_forever"), "{report}");
    run(&folder, "recover boxes -o dead.html").stdout();
    run(&folder, "recover boxes -o tasks.json").stdout();
    run(&folder, "check --ours dead.html").stdout();
    check(&fs::read(folder.join("tasks.json")).unwrap()).unwrap();
    // The other commands read it by its name, and say the same.
    let first = names_in(&boxes).into_iter().find(|name| name.ends_with(".0.box")).unwrap();
    assert_eq!(run(&folder, &format!("report boxes/{first}")).stdout(), report);
    assert!(run(&folder, &format!("check --ours boxes/{first}")).stdout().contains(": ok, "));
}

#[test]
fn a_box_is_gone_once_the_files_are_written() {
    let folder = folder("boxes-ends");
    let (mut program, boxes) = program(&folder);
    assert!(Running::start(program.arg("end")).end().status.success());
    assert!(folder.join("boxed.html").exists());
    assert_eq!(names_in(&boxes), [] as [String; 0]);
    let mut child = Running::start(self::program(&folder).0.arg("work"));
    child.wait_for("ready").signal(libc::SIGTERM);
    assert_eq!(child.end().status.signal(), Some(libc::SIGTERM));
    assert_eq!(names_in(&boxes), [] as [String; 0]);
}

#[test]
fn the_boxes_of_the_last_two_dead_processes_stay() {
    let folder = folder("boxes-dead");
    let (_, boxes) = program(&folder);
    for n in 0..4 {
        let mut child = Running::start(program(&folder).0.arg("block"));
        child.wait_for("ready").signal(libc::SIGKILL);
        child.end();
        // Two files each.
        assert_eq!(names_in(&boxes).len(), 2 * (n + 1).min(3), "{n}");
    }
}

#[test]
fn the_next_start_names_a_dead_box_once_and_writes_its_page() {
    let folder = folder("boxes-next");
    let (mut command, boxes) = program(&folder);
    let mut first = Running::start(command.arg("block"));
    first.wait_for("ready");
    wait_until_ps_says(&folder, "boxes", "boxed::blocks_forever");
    first.signal(libc::SIGKILL);
    let pid = first.id();
    assert_eq!(first.end().stderr, "");
    let first_box = names_in(&boxes).into_iter().find(|name| name.ends_with(".0.box")).unwrap();

    let mut second = Running::start(command.arg("block"));
    let page = format!("crash-{pid}.html");
    let wrote = format!(
        "tokio-statemap: wrote {}: what boxed (process {pid}) did",
        folder.join(&page).display()
    );
    second.wait_for("ready").wait_for_stderr(&wrote);
    wait_until_ps_says(&folder, "boxes", "runs");
    second.signal(libc::SIGKILL);
    let second_pid = second.id();
    let named = |pid, path: String| {
        format!(
            "tokio-statemap: boxed (process {pid}) did not end in order: `tokio-statemap recover {path}` shows what it did\n"
        )
    };
    let path = |name: &str| boxes.join(name).display().to_string();
    // On a busy machine the lines of functions may not be found in time, which is said.
    let said = second.end().stderr;
    let said = said.lines().filter(|line| !line.contains(": some functions have no lines: "));
    let said: String = said.map(|line| format!("{line}\n")).collect();
    assert_eq!(said, format!("{}{wrote}\n", named(pid, path(&first_box))));
    run(&folder, &format!("check --ours {page}")).stdout();
    let report = run(&folder, &format!("report {page}")).stdout();
    assert!(report.contains("blocks_forever"), "{report}");

    // The first one isn't named again, although it is still there.
    let ended = Running::start(program(&folder).0.arg("end")).end();
    assert!(ended.stderr.contains(&named(second_pid, String::new())[..40]), "{ended:?}");
    assert!(!ended.stderr.contains(&format!("process {pid})")), "{ended:?}");
    assert!(names_in(&boxes).contains(&first_box));
    run(&folder, &format!("recover boxes/{first_box}")).stdout();
}

#[test]
fn ps_watches_until_the_process_ends() {
    let folder = folder("boxes-watch");
    let (mut program, boxes) = program(&folder);
    for signal in [libc::SIGTERM, libc::SIGKILL] {
        let mut child = Running::start(program.arg("work"));
        child.wait_for("ready");
        let pid = child.id().to_string();
        wait_until_ps_says(&folder, &pid, " polls a second, ");
        // If it ends in order, nothing is left of it.
        let what = if signal == libc::SIGTERM { Path::new(&pid) } else { &boxes };
        let mut command = child::command(binary(), &folder);
        let mut watch = command.args(["ps", "--watch"]).arg(what).spawn().unwrap();
        let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
        let shows =
            lines.by_ref().map(Result::unwrap).filter(|line| line.contains(" runs; as of "));
        assert_eq!(shows.take(2).count(), 2);
        child.signal(signal);
        child.end();
        let rest: Vec<_> = lines.map(Result::unwrap).collect();
        assert!(!rest.iter().any(|line| line.contains('\x1b')), "it is no terminal: {rest:?}");
        if signal == libc::SIGKILL {
            let last = rest.iter().rfind(|line| line.contains("; as of ")).unwrap();
            assert!(last.contains(" is dead; as of "), "{rest:?}");
        }
        assert!(watch.wait().unwrap().success());
    }
}

#[test]
fn ps_ends_with_the_reader_of_its_output() {
    let folder = folder("boxes-closed");
    let (mut program, boxes) = program(&folder);
    let mut child = Running::start(program.arg("work"));
    child.wait_for("ready");
    wait_until_ps_says(&folder, "boxes", "boxed::works");
    let mut command = child::command(binary(), &folder);
    let mut watch = command.args(["ps", "--watch"]).arg(&boxes).spawn().unwrap();
    let lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    assert_eq!(lines.take(2).count(), 2);
    assert!(watch.wait().unwrap().success());
    let mut stderr = String::new();
    watch.stderr.unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(stderr, "");
}

#[test]
fn what_was_recorded_survives_a_kill_at_any_moment() {
    let folder = folder("boxes-kills");
    let mut random = Random::new(5);
    for n in 0..8 {
        let (mut program, boxes) = program(&folder);
        let mut child = Running::start(program.arg("work"));
        child.wait_for("ready");
        wait_until_ps_says(&folder, "boxes", "boxed::works");
        std::thread::sleep(std::time::Duration::from_millis(random.below(300)));
        child.signal(libc::SIGKILL);
        child.end();
        let report = run(&folder, "recover boxes").stdout();
        assert!(report.contains("events"), "{n}: {report}");
        assert!(report.contains("tests/src/bin/boxed.rs"), "{n}: {report}");
        if n == 7 {
            forge(&boxes);
        }
        fs::remove_dir_all(&boxes).unwrap();
    }
}

/// Reads some boxes that are forged from the one in this folder: each is read or refused, and none takes long.
fn forge(boxes: &Path) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let forged = build(target, "command", &["build", "--bin", "forged"], "forged");
    let name = names_in(boxes).into_iter().find(|name| name.ends_with(".0.box")).unwrap();
    let ended = Command::new(forged).arg(boxes.join(name)).args(["1", "20"]).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
}

#[test]
fn what_is_no_box_is_refused() {
    let folder = folder("boxes-bad");
    fs::create_dir(folder.join("empty")).unwrap();
    fs::write(folder.join("a.0.box"), "tasks").unwrap();
    fs::write(folder.join("b.0.box"), "").unwrap();
    for (args, message) in [
        ("recover empty", "empty: there is no black box in this folder"),
        ("recover a.0.box", "a.0.box: this is no black box: its first 16 bytes are others"),
        (
            "report b.0.box",
            "b.0.box: nothing was written to it: the process ended at once, or there was no room",
        ),
        ("ps 4194304", "4194304: there is no such process, and no black box of one"),
    ] {
        let ended = run(&folder, args);
        assert_eq!(ended.status, Some(1), "{args}: {ended:?}");
        assert_eq!(ended.stderr, format!("tokio-statemap: {message}\n"), "{args}");
    }
}
