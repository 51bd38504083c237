//! Where a user may have few threads, the program gets them, and not the recording.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use tests::child::{Ended, Running, command};
use tests::files::{data, folder, pictures};
use tests::left_out::not_allowed;

/// Returns a user without another process, also where the tests run more than once at the same time. In a container there may
/// be no more than 65 536 users.
fn user() -> u32 {
    20_000 + std::process::id() % 40_000
}

#[test]
fn the_program_gets_the_first_threads() {
    // SAFETY: it has no precondition.
    if unsafe { libc::geteuid() } != 0 {
        return not_allowed("a limit on threads", "it takes another user, and root may become one");
    }
    for (name, plain, observed, threads) in [
        // `main` and two workers.
        ("unit", env!("CARGO_BIN_EXE_unit_plain"), env!("CARGO_BIN_EXE_unit"), 3),
        ("single", env!("CARGO_BIN_EXE_single_plain"), env!("CARGO_BIN_EXE_single"), 1),
    ] {
        let folder = folder(env!("CARGO_TARGET_TMPDIR"), &format!("few_threads-{name}"));
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        let [plain, observed] = [plain, observed].map(|program| {
            let mut command = command(program, &folder);
            let ended: Ended = Running::start(with_threads(command.arg("returns"), threads)).end();
            ended
        });
        assert_eq!(plain.status.code(), Some(0), "{}", plain.stderr);
        assert_eq!((observed.status, &observed.stdout), (plain.status, &plain.stdout));
        let messages = observed.messages();
        assert!(messages.iter().all(|message| message.contains("thread")), "{messages:?}");
        data(folder.join("tasks.json"));
        pictures(&folder);
    }
}

/// Limits the number of threads of the user.
fn with_threads(command: &mut std::process::Command, threads: u64) -> &mut std::process::Command {
    command.uid(user());
    // SAFETY: `setrlimit` is async-signal-safe.
    unsafe {
        command.pre_exec(move || {
            let limit = libc::rlimit { rlim_cur: threads, rlim_max: threads };
            match libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        })
    }
}
