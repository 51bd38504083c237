//! `panic = "abort"`: nothing is unwound, the panic hook runs last.
//!
//! Cargo builds the binaries of a test package with unwinding, so the programs are built again.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tests::build::cargo;

use crate::exit_paths::pair::{Observed, Pair};

/// The folder of the aborting programs.
fn programs() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("abort");
        let status = cargo(Path::new(env!("CARGO_TARGET_TMPDIR")), &folder)
            .args(["build", "--quiet"])
            .args(["--bin=unit", "--bin=unit_plain"])
            .env("CARGO_PROFILE_DEV_PANIC", "abort")
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .status()
            .unwrap();
        assert!(status.success(), "cargo build");
        folder.join("debug")
    })
}

#[track_caller]
fn aborts(way: &str) -> Observed {
    let path = |name: &str| programs().join(name).display().to_string();
    let name = format!("abort-{way}");
    let observed = Pair::of(&path("unit"), &path("unit_plain"), &name, way).compare();
    assert_eq!(observed.ended.status.signal(), Some(libc::SIGABRT));
    observed
}

#[test]
#[ignore = "slow: builds programs with panic = \"abort\""]
fn a_panic_aborts() {
    assert!(aborts("panic_main").ended.stderr.contains("main panics"));
    aborts("panic_task");
    aborts("panic_blocking");
    aborts("panic_thread");
}

#[test]
#[ignore = "slow: builds programs with panic = \"abort\""]
fn with_a_hook_of_the_programs_own() {
    aborts("panic_chained");
    aborts("panic_replaced");
}
