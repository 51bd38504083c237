//! Paths that can't be written, or that lead to unusual places.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;
use std::thread;

use tests::check::check;
use tests::child::Running;
use tests::files::{data, names_in, page, svg};

use super::run::{Run, messages};

#[test]
fn a_missing_folder_is_made() {
    let run = Run::new("missing", "returns");
    let ended = run.is_unharmed(|command| {
        command.env("TASKS", "a/b/tasks.json").env("REPORT", "a/c/report.txt");
        command.env("HTML", "a/d/page.html").env("SVG", "a/e/f/picture.svg");
    });
    messages(&ended, &[]);
    run.file("a/b/tasks.json");
    page(run.folder.join("a/d/page.html"));
    svg(run.folder.join("a/e/f/picture.svg"));
    assert!(run.folder.join("a/c/report.txt").is_file());
}

#[test]
fn a_folder_that_cannot_be_made_is_reported() {
    let run = Run::new("unmakeable", "returns");
    let ended = run.is_unharmed(|command| {
        command.env("TASKS", "/proc/nowhere/tasks.json").env("SVG", "/proc/nowhere/a.svg");
        command.env("HTML", "/proc/nowhere/a.html");
    });
    let paths = ["/proc/nowhere/tasks.json", "/proc/nowhere/a.html", "/proc/nowhere/a.svg"];
    messages(
        &ended,
        &[
            &["`tasks` can't be written", paths[0]],
            &["`html` can't be written", paths[1]],
            &["`svg` can't be written", paths[2]],
            &["not written: `tasks`", paths[0]],
            &["not written: `html`", paths[1]],
            &["not written: `svg`", paths[2]],
        ],
    );
    run.file("workers.json");
}

#[test]
fn a_folder_in_the_way_is_kept() {
    let run = Run::new("folder", "returns");
    let names = ["tasks.json", "statemap.html", "statemap.svg"];
    for name in names {
        fs::create_dir(run.folder.join(name)).unwrap();
    }
    let ended = run.is_unharmed(|_| {});
    let [tasks, html, svg] = names.map(|name| [name, "irectory"]);
    messages(&ended, &[&tasks, &html, &svg, &tasks, &html, &svg]);
    run.file("workers.json");
    for name in names {
        assert_eq!(names_in(&run.folder.join(name)), [""; 0]);
    }
}

#[test]
fn a_file_where_a_folder_should_be_is_kept() {
    let run = Run::new("file", "returns");
    fs::write(run.folder.join("a"), "mine").unwrap();
    let ended = run.is_unharmed(|command| {
        command.env("TASKS", "a/tasks.json").env("HTML", "a/page.html");
    });
    let (tasks, html) = (&["a/tasks.json"], &["a/page.html"]);
    messages(&ended, &[tasks, html, tasks, html]);
    svg(run.folder.join("statemap.svg"));
    assert_eq!(fs::read(run.folder.join("a")).unwrap(), b"mine");
}

#[test]
fn old_files_in_a_read_only_folder_are_kept() {
    let run = Run::new("read_only", "returns");
    let (mut command, folder) = run.command_as_nobody(env!("CARGO_BIN_EXE_hostile"));
    let closed = folder.join("closed");
    fs::create_dir(&closed).unwrap();
    let old = ["workers.json", "statemap.html", "statemap.svg"];
    for name in old {
        fs::write(closed.join(name), "the old one").unwrap();
    }
    fs::set_permissions(&closed, PermissionsExt::from_mode(0o555)).unwrap();
    command.current_dir(&closed).env("REPORT", "/dev/null");
    let ended = Running::start(&mut command).end();
    let found = old.map(|name| fs::read(closed.join(name)).unwrap());
    fs::set_permissions(&closed, PermissionsExt::from_mode(0o755)).unwrap();
    fs::remove_dir_all(&folder).unwrap();

    assert_eq!(ended.status.code(), Some(0));
    assert!(ended.stdout.ends_with("the last line\n"));
    let (tasks, workers) = (&["tasks.json", "ermission"], &["workers.json", "ermission"]);
    let (html, svg) = (&["statemap.html", "ermission"], &["statemap.svg", "ermission"]);
    messages(&ended, &[tasks, workers, html, svg, tasks, workers, html, svg]);
    assert_eq!(found, [b"the old one"; 3]);
}

#[test]
fn a_full_disk_is_reported() {
    let run = Run::new("full", "returns");
    let ended = run.is_unharmed(|command| {
        for key in ["TASKS", "HTML", "SVG"] {
            command.env(key, "/dev/full");
        }
    });
    messages(
        &ended,
        &[
            &["not written: `tasks`", "/dev/full"],
            &["not written: `html`", "/dev/full"],
            &["not written: `svg`", "/dev/full"],
        ],
    );
    run.file("workers.json");
}

#[test]
fn outputs_may_go_to_the_null_device() {
    let run = Run::new("null", "returns");
    let ended = run.is_unharmed(|command| {
        for key in ["TASKS", "HTML", "SVG", "REPORT"] {
            command.env(key, "/dev/null");
        }
    });
    messages(&ended, &[]);
    run.file("workers.json");
    assert_eq!(names_in(&run.folder), ["workers.json"]);
}

#[test]
fn an_output_may_be_stdout() {
    let run = Run::new("stdout", "returns");
    let ended = run.ends(|command| {
        command.env("TASKS", "/dev/stdout");
    });
    messages(&ended, &[]);
    let data = ended.stdout.strip_prefix("returns\nthe last line\n").unwrap();
    check(data.as_bytes()).unwrap();
    let ended = run.ends(|command| {
        command.env("HTML", "/dev/stdout");
    });
    messages(&ended, &[]);
    let text = ended.stdout.strip_prefix("returns\nthe last line\n").unwrap();
    tests::page::check(text.as_bytes()).unwrap();

    // The program's own output must be kept.
    let path = run.folder.join("out.txt");
    let file = File::create(&path).unwrap();
    let mut command = run.command(env!("CARGO_BIN_EXE_hostile"));
    command.env("TASKS", "/dev/stdout").stdout(Stdio::from(file));
    let ended = Running::start(&mut command).end();
    messages(&ended, &[]);
    let text = fs::read_to_string(&path).unwrap();
    let data = text.strip_prefix("returns\nthe last line\n").unwrap_or_else(|| panic!("{text}"));
    check(data.as_bytes()).unwrap();
}

pub(crate) fn make_fifo(path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: The path ends with a zero and lives through the call.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

#[test]
fn a_pipe_without_a_reader_is_reported() {
    let run = Run::new("fifo", "returns");
    make_fifo(&run.folder.join("tasks.json"));
    make_fifo(&run.folder.join("statemap.html"));
    let ended = run.is_unharmed(|_| {});
    messages(&ended, &[&["not written", "tasks.json"], &["not written", "statemap.html"]]);
    run.file("workers.json");
}

#[test]
fn an_output_may_be_a_pipe() {
    for (name, check) in [
        ("tasks.json", (|bytes| check(bytes).map(drop)) as fn(&[u8]) -> Result<(), String>),
        ("statemap.html", |bytes| tests::page::check(bytes).map(drop)),
    ] {
        let run = Run::new("fifo_read", "returns");
        check(&read_through_pipe(&run, name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Runs the program and returns what it writes into the pipe `name`.
fn read_through_pipe(run: &Run, name: &str) -> Vec<u8> {
    let path = run.folder.join(name);
    make_fifo(&path);
    // The pipe is open for reading before the program starts.
    let reader = thread::spawn({
        let path = path.clone();
        move || {
            let mut text = Vec::new();
            File::open(path).unwrap().read_to_end(&mut text).unwrap();
            text
        }
    });
    let held = File::options().write(true).open(&path).unwrap();
    let mut command = run.command(env!("CARGO_BIN_EXE_hostile"));
    let ended = Running::start(&mut command).end();
    drop(held);
    messages(&ended, &[]);
    reader.join().unwrap()
}

#[test]
fn a_link_stays_one() {
    let run = Run::new("link", "returns");
    let (link, real) = (run.folder.join("tasks.json"), run.folder.join("real.json"));
    fs::write(&real, "the old one").unwrap();
    symlink("real.json", &link).unwrap();
    // This link leads to a file that doesn't exist yet.
    symlink("new.json", run.folder.join("workers.json")).unwrap();
    symlink("new.html", run.folder.join("statemap.html")).unwrap();
    symlink("new.svg", run.folder.join("statemap.svg")).unwrap();
    messages(&run.is_unharmed(|_| {}), &[]);
    for name in ["tasks.json", "workers.json", "statemap.html", "statemap.svg"] {
        let found = fs::symlink_metadata(run.folder.join(name)).unwrap();
        assert!(found.is_symlink(), "{name}");
    }
    data(&real);
    run.file("new.json");
    page(run.folder.join("new.html"));
    svg(run.folder.join("new.svg"));
}

#[test]
fn placeholders_in_paths_are_filled_in() {
    let run = Run::new("names", "returns");
    let mut command = run.command(env!("CARGO_BIN_EXE_hostile"));
    command.env("TASKS", "{bin}/{pid}.{other}.json").env("WORKERS", "{host}-{time}");
    command.env("HTML", "{bin}/{pid}.html").env("SVG", "{bin}.svg");
    let running = Running::start(&mut command);
    let id = running.id();
    messages(&running.end(), &[]);
    run.file(format!("hostile/{id}.{{other}}.json"));
    page(run.folder.join(format!("hostile/{id}.html")));
    svg(run.folder.join("hostile.svg"));
    let names = names_in(&run.folder);
    let workers =
        names.iter().find(|name| name.ends_with('Z')).unwrap_or_else(|| panic!("{names:?}"));
    assert!(!workers.contains('{'), "{workers}");
    run.file(workers);
}

#[test]
fn relative_paths_are_resolved_at_the_start() {
    let run = Run::new("chdir", "chdir");
    messages(&run.is_unharmed(|_| {}), &[]);
    run.file("tasks.json");
    run.file("workers.json");
    run.pictures();
}

#[test]
fn two_keys_with_one_file_are_reported() {
    let run = Run::new("same", "returns");
    let ended = run.is_unharmed(|command| {
        command.env("WORKERS", "tasks.json").env("HTML", "./tasks.json");
        command.env("SVG", run.folder.join("tasks.json"));
    });
    messages(
        &ended,
        &[
            &["`workers` is not written", "`tasks`", "tasks.json"],
            &["`html` is not written", "`tasks`", "tasks.json"],
            &["`svg` is not written", "`tasks`", "tasks.json"],
        ],
    );
    assert_eq!(run.file("tasks.json").entity_kind, "Task");
}
