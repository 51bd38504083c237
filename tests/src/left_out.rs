//! What tests do where a tool that they need isn't there.

use std::env;
use std::io::{self, Write};
use std::sync::Mutex;

/// Prints one line on stderr: what is left out, and what is to be done to have it. The same line
/// comes once a program.
///
/// # Panics
///
/// If `STATEMAP_TESTS` is `all`: then nothing may be left out.
pub fn left_out(what: &str, why: &str) {
    assert!(
        env::var_os("STATEMAP_TESTS").is_none_or(|value| value != "all"),
        "STATEMAP_TESTS=all, and this can't be run: {what}: {why}"
    );
    say(what, why);
}

/// The same of what no tool can help with, such as what a container forbids: it may be left out always.
pub fn not_allowed(what: &str, why: &str) {
    say(what, why);
}

fn say(what: &str, why: &str) {
    static PRINTED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let line = format!("LEFT OUT, {what}: {why}\n");
    let mut printed = PRINTED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if printed.contains(&line) {
        return;
    }
    // Not `eprintln!`: the test harness keeps that to itself when a test passes.
    let _ = io::stderr().write_all(line.as_bytes());
    printed.push(line);
}
