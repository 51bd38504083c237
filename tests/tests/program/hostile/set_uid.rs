//! A set-uid program isn't recorded: its caller chooses the environment, the working directory and the descriptors, and
//! must gain nothing through the files of a recording.

use std::ffi::CString;
use std::fs;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::child::Running;
use tests::files::names_in;

use super::links::NOBODY;
use super::run::{Run, is_root, messages};

/// Returns a command that starts a set-uid copy of `program`, owned by root, as nobody in a folder of theirs, and the folder
/// that contains both, which the caller removes. Returns `None` if the machine doesn't allow it.
fn set_uid(run: &Run, program: &str) -> Option<(Command, PathBuf)> {
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
    // SAFETY: The path ends with a zero; the memory lives through the call, and is read only if the call has filled it.
    unsafe {
        assert_eq!(libc::statvfs(path.as_ptr(), found.as_mut_ptr()), 0);
        found.assume_init().f_flag & libc::ST_NOSUID != 0
    }
}

#[test]
fn nothing_is_recorded_and_one_line_says_so() {
    let run = Run::new("set_uid", "returns");
    for program in [env!("CARGO_BIN_EXE_default_files"), env!("CARGO_BIN_EXE_hostile")] {
        let Some((mut command, folder)) = set_uid(&run, program) else {
            return;
        };
        let logs = folder.join("logs");
        command.env("TASKS", logs.join("tasks.json")).env("HTML", "/dev/stdout");
        command.env("TOKIO_STATEMAP_DIR", folder.join("home/planted"));
        let ended = Running::start(&mut command).end();
        let (left, has_logs) = (names_in(&folder.join("home")), logs.exists());
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        assert_eq!(left, [""; 0]);
        assert!(!has_logs && !ended.stdout.contains("<html"), "{}", ended.stdout);
        messages(&ended, &[&["nothing is recorded", "privileges that its caller may lack"]]);
    }
}
