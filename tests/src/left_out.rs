//! Reports tests that are left out because the machine lacks something.

use std::env;
use std::io::{self, Write};
use std::sync::Mutex;

/// Prints one line on stderr: what is left out, and how to get what it needs. A process prints each line once.
///
/// # Panics
///
/// If `STATEMAP_TESTS` is `all`, as then nothing may be left out.
pub fn left_out(what: &str, why: &str) {
    assert!(
        env::var_os("STATEMAP_TESTS").is_none_or(|value| value != "all"),
        "STATEMAP_TESTS=all, and this can't be run: {what}: {why}"
    );
    not_allowed(what, why);
}

/// Prints the same line about something that no tool can provide, such as a right that a container doesn't give. It may
/// always be left out.
pub fn not_allowed(what: &str, why: &str) {
    static PRINTED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let line = format!("LEFT OUT, {what}: {why}\n");
    let mut printed = PRINTED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if printed.contains(&line) {
        return;
    }
    // The test harness hides what `eprintln!` prints if a test passes.
    let _ = io::stderr().write_all(line.as_bytes());
    printed.push(line);
}
