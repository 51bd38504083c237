//! A set-uid program: its caller chooses the environment, the working directory and the
//! descriptors, and must gain nothing by that.

use std::ffi::CString;
use std::fs::{self, File};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tests::child::{Running, names_in};

use super::links::NOBODY;
use super::run::{Run, checked, is_root, messages};

/// A copy of `program` that is owned by root and set-uid, started by nobody in a folder of theirs;
/// and the folder that both are in, which the caller removes. `None` if that is impossible.
pub(crate) fn set_uid(run: &Run, program: &str) -> Option<(Command, PathBuf)> {
    if !is_root() {
        println!(
            "not run: only the superuser can make a set-uid program that isn't the user's own"
        );
        return None;
    }
    let (mut command, folder) = run.command_as_nobody(program);
    if is_without_set_uid(&folder) {
        fs::remove_dir_all(&folder).unwrap();
        println!("not run: {} is mounted `nosuid`", folder.display());
        return None;
    }
    let program = PathBuf::from(command.get_program());
    fs::set_permissions(&program, PermissionsExt::from_mode(0o4755)).unwrap();
    let home = folder.join("home");
    fs::create_dir(&home).unwrap();
    chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
    command.current_dir(&home);
    // SAFETY: `umask` is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            libc::umask(0);
            Ok(())
        })
    };
    Some((command, folder))
}

fn is_without_set_uid(path: &Path) -> bool {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    let mut found = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path ends with a zero; what is written to lives through the call, and is read only
    // if the call has filled it.
    unsafe {
        assert_eq!(libc::statvfs(path.as_ptr(), found.as_mut_ptr()), 0);
        found.assume_init().f_flag & libc::ST_NOSUID != 0
    }
}

#[test]
fn variables_are_ignored_and_nothing_is_written_relative_to_the_caller() {
    let run = Run::new("set_uid_default", "returns");
    for name in ["TOKIO_STATEMAP_DIR", "TOKIO_STATEMAP"] {
        let Some((mut command, folder)) = set_uid(&run, env!("CARGO_BIN_EXE_default_files")) else {
            return;
        };
        let planted = folder.join("home/planted");
        let value = if name == "TOKIO_STATEMAP" { "0".as_ref() } else { planted.as_os_str() };
        let ended = Running::start(command.env(name, value)).end();
        let left = names_in(&folder.join("home"));
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        assert_eq!(left, [""; 0]);
        messages(&ended, &[&["`html` is not written", "default_files.statemap.html", "absolute"]]);
    }
}

#[test]
fn absolute_paths_are_written_and_the_caller_gains_no_right() {
    let run = Run::new("set_uid_paths", "returns");
    let Some((mut command, folder)) = set_uid(&run, env!("CARGO_BIN_EXE_hostile")) else {
        return;
    };
    // What the caller may only read.
    let log = folder.join("log");
    fs::write(&log, "the log").unwrap();
    let logs = folder.join("logs");
    command.env("TASKS", logs.join("tasks.json")).env("HTML", "/dev/stdout");
    command.env("TOKIO_STATEMAP_DIR", folder.join("home/planted"));
    command.stdout(Stdio::from(File::open(&log).unwrap()));
    let ended = Running::start(&mut command).end();
    let left = names_in(&folder.join("home"));
    let modes = [&logs, &logs.join("tasks.json")].map(|path| {
        let found = fs::metadata(path);
        found.map(|found| (found.uid(), found.mode() & 0o7777)).ok()
    });
    checked(&logs.join("tasks.json"));
    let log = fs::read(log).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(left, [""; 0]);
    // Independent of the caller's umask.
    assert_eq!(modes, [Some((0, 0o700)), Some((0, 0o600))]);
    assert_eq!(log, b"the log");
    messages(
        &ended,
        &[
            &["`workers` is not written", "absolute path"],
            &["`svg` is not written", "absolute path"],
            &["`report` is not written", "absolute path"],
            &["not written: `html`", "/dev/stdout", "isn't open for writing"],
        ],
    );
}
