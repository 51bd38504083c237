//! Runs a test in a process of its own.

use std::env;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Lets one test run at a time: some take all processors.
static ONE: Mutex<()> = Mutex::new(());

/// The environment variable that is set in the process of the test.
const VARIABLE: &str = "STATEMAP_TEST_ALONE";

/// Runs `test`, the whole body of the calling test, in a process that runs nothing else, and prints its output.
///
/// The process is the test's own program again, started with the name of this one test.
///
/// # Panics
///
/// If the test fails in that process.
pub fn alone(test: impl FnOnce()) {
    if env::var_os(VARIABLE).is_some() {
        return test();
    }
    let thread = thread::current();
    let name = thread.name().expect("a test's thread has the test's name");
    let program = env::current_exe().expect("a program knows where it is");
    let mut command = Command::new(program);
    command.args(["--exact", name, "--include-ignored", "--nocapture"]).env(VARIABLE, "1");
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    print!("{stdout}{stderr}");
    let has_run = stdout.contains("test result: ok. 1 passed");
    assert!(output.status.success() && has_run, "{name}: {}\n{stdout}\n{stderr}", output.status);
}
