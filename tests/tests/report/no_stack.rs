//! If no function is known, the report says why, and what to do about it.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::path::Path;
use std::process::Command;

use tests::child::{Running, command, folder};
use tests::left_out::not_allowed;

/// The program runs with an empty `/proc`, if the machine allows to mount one.
#[test]
fn a_missing_proc_is_named_as_the_reason() {
    let may_mount = Command::new("unshare").args(["--mount", "true"]).status();
    if !may_mount.is_ok_and(|status| status.success()) {
        return not_allowed("a program without /proc", "it takes the right to mount files");
    }
    let folder = folder(Path::new(env!("CARGO_TARGET_TMPDIR")), "no-proc");
    let mut program = command(Path::new("unshare"), &folder);
    program.args(["--mount", "sh", "-c", r#"mount -t tmpfs none /proc && exec "$0""#]);
    program.arg(env!("CARGO_BIN_EXE_sleeps"));
    let ended = Running::start(&mut program).end();
    assert!(ended.status.success(), "{ended:?}");
    let report = ended.stderr.replace('\n', " ");
    assert!(report.contains("held a worker wasn't seen ("), "{}", ended.stderr);
    assert!(report.contains("): there is no /proc here"), "{}", ended.stderr);
    // No sample could show the poll, so it isn't attributed to the machine.
    assert!(report.contains("sleeps.rs:21:5 held the runtime up"), "{}", ended.stderr);
}
