//! With `panic = "abort"` nothing is unwound, and the panic hook runs last.
//!
//! Cargo builds the programs of a test package with unwinding, so these tests build them again.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use tests::build::{Variant, build_program};

use crate::exit_paths::pair::{Observed, Pair};

#[track_caller]
fn aborts(way: &str) -> Observed {
    let path = |name: &str| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        build_program(target, Variant::Static, name).display().to_string()
    };
    let name = format!("abort-{way}");
    let observed = Pair::new(&path("unit"), &path("unit_plain"), &name, way).compare();
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
