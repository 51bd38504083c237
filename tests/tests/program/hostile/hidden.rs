//! The temporary files of outputs.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use tests::child::{Running, command};
use tests::files::names_in;

use super::links::NOBODY;
use super::run::{Run, is_root, messages};

/// Another process, which knows the process id, has already created two hundred files.
#[test]
fn files_with_foreseeable_names_do_no_harm() {
    let run = Run::new("foreseen", "returns");
    let script = "i=0; while [ $i -lt 200 ]; do : > .statemap-$$-$i.tmp; i=$((i + 1)); done; \
                  exec \"$0\" returns";
    let mut command = command("sh", &run.folder);
    command.args(["-c", script, env!("CARGO_BIN_EXE_hostile")]);
    let ended = Running::start(&mut command).end();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    messages(&ended, &[]);
    run.file("tasks.json");
    run.file("workers.json");
    run.pictures();
    assert_eq!(names_in(&run.folder).len(), 205);
}

/// An impatient user sends the signal again, or SIGKILL. The files are then unchanged, and no other file is left.
#[test]
#[ignore = "slow: many events"]
fn a_second_signal_leaves_nothing() {
    for signal in [libc::SIGINT, libc::SIGKILL] {
        let run = Run::new("second_signal", "many_events_wait");
        fs::write(run.folder.join("tasks.json"), "the old one").unwrap();
        let mut running = Running::start(&mut run.command(env!("CARGO_BIN_EXE_hostile")));
        running.wait_for("ready").signal(libc::SIGINT);
        while !is_writing(running.id(), &run.folder) {
            assert!(Path::new(&format!("/proc/{}/exe", running.id())).exists());
        }
        running.signal(signal);
        let ended = running.end();
        assert_eq!(ended.status.signal(), Some(signal), "{}", ended.stderr);
        let names = names_in(&run.folder);
        let hidden: Vec<_> = names.iter().filter(|name| name.starts_with('.')).collect();
        assert_eq!(hidden, [""; 0]);
    }
}

/// Returns whether a process writes to a file in `folder`, which may have no name yet.
fn is_writing(process: u32, folder: &Path) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    let folder = folder.canonicalize().unwrap();
    let mut leads_to = open.filter_map(|fd| fs::read_link(fd.ok()?.path()).ok());
    leads_to.any(|file| {
        let length = fs::metadata(&file).map_or(0, |found| found.len());
        file != folder && file.starts_with(&folder) && (!file.exists() || length > 0)
    })
}

/// The next run that writes the same output removes the leftovers of a killed process.
#[test]
fn leftovers_of_a_killed_run_are_removed() {
    let run = Run::new("leftovers", "returns");
    let hidden = |name: &str, digits: char| {
        format!(".{name}.{}.statemap-tmp", String::from(digits).repeat(16))
    };
    let here = |name: &str| run.folder.join(name);
    let removed = [hidden("tasks.json", '0'), hidden("statemap.html", 'f')];
    // These are kept: leftovers of another output and of other users, one that is being written, and files that are no
    // leftovers.
    let (written, folder) = (hidden("tasks.json", '1'), hidden("tasks.json", '2'));
    let (link, two_names) = (hidden("tasks.json", '3'), hidden("tasks.json", '4'));
    let theirs = hidden("tasks.json", '5');
    let others = [hidden("other.json", '0'), hidden("tasks.json", 'x'), ".tasks.json.tmp".into()];
    for name in removed.iter().chain(&others).chain([&written, &two_names, &theirs]) {
        fs::write(here(name), "a leftover").unwrap();
    }
    fs::create_dir(here(&folder)).unwrap();
    symlink("precious", here(&link)).unwrap();
    fs::hard_link(here(&two_names), here("another-name")).unwrap();
    if is_root() {
        chown(here(&theirs), Some(NOBODY), Some(NOBODY)).unwrap();
    } else {
        fs::remove_file(here(&theirs)).unwrap();
    }
    let file = File::open(here(&written)).unwrap();
    // SAFETY: The descriptor is open.
    assert_eq!(unsafe { libc::flock(std::os::fd::AsRawFd::as_raw_fd(&file), libc::LOCK_EX) }, 0);

    let before = names_in(&run.folder);
    let ended = Running::start(&mut run.command(env!("CARGO_BIN_EXE_hostile"))).end();
    messages(&ended, &[]);
    let mut expected: Vec<_> = before.into_iter().filter(|name| !removed.contains(name)).collect();
    let outputs = ["tasks.json", "workers.json", "statemap.html", "statemap.svg", "report.txt"];
    expected.extend(outputs.map(String::from));
    expected.sort();
    assert_eq!(names_in(&run.folder), expected);
    drop(file);
}

/// A new file has the access rights of the file that it replaces.
#[test]
fn owner_group_and_permissions_are_kept() {
    let run = Run::new("owner", "returns");
    let files = [("tasks.json", 0o600), ("statemap.html", 0o640), ("statemap.svg", 0o444)];
    for (name, mode) in files {
        let path = run.folder.join(name);
        fs::write(&path, "the old one").unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        if is_root() {
            chown(&path, Some(1_234), Some(5_678)).unwrap();
        }
    }
    messages(&run.is_unharmed(|_| {}), &[]);
    run.file("tasks.json");
    run.pictures();
    for (name, mode) in files {
        let found = fs::metadata(run.folder.join(name)).unwrap();
        assert_eq!(found.mode() & 0o7777, mode, "{name}");
        if is_root() {
            assert_eq!((found.uid(), found.gid()), (1_234, 5_678), "{name}");
        }
    }
}

/// If the group of a file can't be kept, the new group doesn't get its rights.
#[test]
fn a_group_that_cannot_be_kept_loses_its_rights() {
    if !is_root() {
        return println!("not run: only the superuser can make other users' files");
    }
    let run = Run::new("group", "returns");
    let (mut command, folder) = run.command_as_nobody(env!("CARGO_BIN_EXE_hostile"));
    chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
    let path = folder.join("tasks.json");
    fs::write(&path, "the old one").unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o660)).unwrap();
    chown(&path, Some(NOBODY), Some(5_678)).unwrap();
    command.current_dir(&folder);
    let ended = Running::start(&mut command).end();
    let found = fs::metadata(&path).unwrap();
    let text = fs::read(&path).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    messages(&ended, &[]);
    assert_ne!(text, b"the old one");
    assert_eq!((found.uid(), found.gid(), found.mode() & 0o777), (NOBODY, NOBODY, 0o600));
}

#[test]
fn a_new_file_keeps_to_the_umask() {
    for (umask, mode) in [("022", 0o644), ("077", 0o600), ("002", 0o664)] {
        let run = Run::new("umask", "returns");
        let mut command: Command = command("sh", &run.folder);
        let script = format!("umask {umask}; exec \"$0\" returns");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_hostile")]);
        messages(&Running::start(&mut command).end(), &[]);
        let found = fs::metadata(run.folder.join("tasks.json")).unwrap();
        assert_eq!(found.mode() & 0o777, mode);
    }
}
