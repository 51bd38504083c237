//! Links, and other files that may be planted in a folder to which everybody may write.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tests::check::check;
use tests::child::Running;
use tests::files::{names_in, page, svg};

use super::paths::make_fifo;
use super::run::{Run, is_root, messages};

pub(crate) const NOBODY: u32 = 65_534;

/// Creates a folder like `/tmp`.
fn sticky_folder(run: &Run) -> PathBuf {
    let folder = run.folder.join("sticky_folder");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, PermissionsExt::from_mode(0o1777)).unwrap();
    folder
}

fn give_to_nobody(path: &Path) {
    lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
}

/// Planted files are left alone even if `fs.protected_symlinks` is off.
#[test]
fn planted_files_are_left_alone() {
    if !is_root() {
        return println!("not run: only the superuser can make other users' files");
    }
    let run = Run::new("planted", "returns");
    let tmp = sticky_folder(&run);
    let (victim, elsewhere) = (run.folder.join("victim"), run.folder.join("elsewhere"));
    fs::write(&victim, "mine").unwrap();
    fs::create_dir(&elsewhere).unwrap();
    symlink(&victim, tmp.join("tasks.json")).unwrap();
    fs::write(tmp.join("workers.json"), "theirs").unwrap();
    symlink(&elsewhere, tmp.join("folder")).unwrap();
    symlink(run.folder.join("made"), tmp.join("missing")).unwrap();
    make_fifo(&tmp.join("report"));
    for name in ["tasks.json", "workers.json", "folder", "missing", "report"] {
        give_to_nobody(&tmp.join(name));
    }
    // This reader never waits.
    let mut pipe = File::options();
    let pipe = pipe.read(true).write(true).custom_flags(libc::O_NONBLOCK).open(tmp.join("report"));

    let ended = run.is_unharmed(|command| {
        command.env("TASKS", tmp.join("tasks.json")).env("WORKERS", tmp.join("workers.json"));
        command.env("HTML", tmp.join("folder/page.html"));
        command.env("SVG", tmp.join("missing/a/picture.svg")).env("REPORT", tmp.join("report"));
    });
    let lines = [
        ["`tasks`", "tasks.json is another user's link"],
        ["`workers`", "workers.json is another user's file"],
        ["`html`", "folder is another user's link"],
        ["`svg`", "missing is another user's link"],
        ["`report`", "report is another user's pipe"],
    ];
    let lines: Vec<&[&str]> = lines.iter().chain(&lines).map(|words| &words[..]).collect();
    messages(&ended, &lines);
    assert_eq!(fs::read(&victim).unwrap(), b"mine");
    assert_eq!(fs::read(tmp.join("workers.json")).unwrap(), b"theirs");
    assert_eq!(names_in(&elsewhere), [""; 0]);
    assert_eq!(names_in(&run.folder), ["elsewhere", "sticky_folder", "victim"]);
    assert_eq!(names_in(&tmp), ["folder", "missing", "report", "tasks.json", "workers.json"]);
    let read = pipe.unwrap().read(&mut [0; 16]);
    assert_eq!(read.unwrap_err().kind(), ErrorKind::WouldBlock, "nothing was written there");
}

/// Links are followed if they belong to the user or to the folder's owner, or if the folder isn't like `/tmp`.
#[test]
fn other_links_are_followed() {
    let run = Run::new("followed", "returns");
    let tmp = sticky_folder(&run);
    symlink("../own.json", tmp.join("tasks.json")).unwrap();
    symlink("../new", tmp.join("folder")).unwrap();
    fs::create_dir(run.folder.join("new")).unwrap();
    let theirs = run.folder.join("theirs");
    fs::create_dir(&theirs).unwrap();
    symlink("../theirs.html", theirs.join("page.html")).unwrap();
    if is_root() {
        give_to_nobody(&theirs.join("page.html"));
        give_to_nobody(&theirs);
        // The folder is like a `/tmp` that belongs to a user, who could do anything there anyway.
        fs::set_permissions(&theirs, PermissionsExt::from_mode(0o1777)).unwrap();
        symlink("normal.json", run.folder.join("workers.json")).unwrap();
        give_to_nobody(&run.folder.join("workers.json"));
    }
    let ended = run.is_unharmed(|command| {
        command.env("TASKS", tmp.join("tasks.json")).env("HTML", theirs.join("page.html"));
        command.env("SVG", tmp.join("folder/deep/picture.svg"));
    });
    messages(&ended, &[]);
    run.file("own.json");
    page(run.folder.join("theirs.html"));
    svg(run.folder.join("new/deep/picture.svg"));
    if is_root() {
        run.file("normal.json");
    }
}

#[test]
fn links_in_a_circle_are_reported() {
    let run = Run::new("circle", "returns");
    symlink("b", run.folder.join("tasks.json")).unwrap();
    symlink("tasks.json", run.folder.join("b")).unwrap();
    symlink("folder", run.folder.join("folder")).unwrap();
    symlink("missing/", run.folder.join("statemap.svg")).unwrap();
    let ended = run.is_unharmed(|command| {
        command.env("HTML", "folder/page.html");
    });
    let (tasks, html) = (&["`tasks`", "symbolic links"], &["`html`", "symbolic links"]);
    let svg = &["`svg`", "irectory"];
    messages(&ended, &[tasks, html, svg, tasks, html, svg]);
    run.file("workers.json");
}

/// The content of stdout stays, whatever name leads to it.
#[test]
#[ignore = "slow: runs many programs"]
fn a_link_to_stdout() {
    for leads_to in
        ["/dev/stdout", "/proc/self/fd/1", "/proc/thread-self/fd/1", "/dev/fd/1", "other-link"]
    {
        for key in ["TASKS", "HTML"] {
            let run = Run::new("link_to_stdout", "returns");
            let out = run.folder.join("out.txt");
            fs::write(&out, "before\n").unwrap();
            symlink("/dev/stdout", run.folder.join("other-link")).unwrap();
            symlink(leads_to, run.folder.join("link")).unwrap();
            let mut command = run.command(env!("CARGO_BIN_EXE_hostile"));
            let file = File::options().append(true).open(&out).unwrap();
            command.env(key, "link").stdout(Stdio::from(file));
            let ended = Running::start(&mut command).end();
            messages(&ended, &[]);
            let text = fs::read_to_string(&out).unwrap();
            let data = text
                .strip_prefix("before\nreturns\nthe last line\n")
                .unwrap_or_else(|| panic!("{leads_to}: {}", &text[..text.len().min(200)]));
            match key {
                "TASKS" => drop(check(data.as_bytes()).unwrap()),
                _ => drop(tests::page::check(data.as_bytes()).unwrap()),
            }
            assert!(run.folder.join("link").is_symlink());
        }
    }
}

/// If a link makes two keys lead to one file, the second is reported, as with the same name.
#[test]
fn two_keys_with_one_file_by_a_link_are_reported() {
    let run = Run::new("same_by_link", "returns");
    symlink("tasks.json", run.folder.join("link.json")).unwrap();
    let ended = run.is_unharmed(|command| {
        command.env("WORKERS", "link.json");
    });
    messages(&ended, &[&["`workers` is not written", "`tasks`", "link.json"]]);
    assert_eq!(run.file("tasks.json").entity_kind, "Task");
}
