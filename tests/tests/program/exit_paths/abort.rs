//! With `panic = "abort"` nothing is unwound, and the panic hook runs last.
//!
//! Cargo builds the programs of a test package with unwinding, so these tests build them again.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::LazyLock;

use tests::build::build_static;

use crate::exit_paths::pair::{Observed, Pair};

/// The program with a recorded `main`, and that with Tokio's.
static PROGRAMS: LazyLock<[String; 2]> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    ["unit", "unit_plain"].map(|name| build_static(target, name).display().to_string())
});

#[track_caller]
fn aborts(way: &str) -> Observed {
    let [recorded, plain] = &*PROGRAMS;
    let name = format!("abort-{way}");
    let observed = Pair::new(recorded, plain, &name, way).compare();
    assert_eq!(observed.ended.status.signal(), Some(libc::SIGABRT));
    observed
}

#[test]
#[cfg(target_env = "gnu")]
#[ignore = "slow: builds programs with panic = \"abort\""]
fn a_panic_aborts() {
    assert!(aborts("panic_main").ended.stderr.contains("main panics"));
    aborts("panic_task");
    aborts("panic_blocking");
    aborts("panic_thread");
}

#[test]
#[cfg(target_env = "gnu")]
#[ignore = "slow: builds programs with panic = \"abort\""]
fn a_panic_aborts_with_a_hook_of_the_programs_own() {
    aborts("panic_chained");
    aborts("panic_replaced");
}
