//! What it was measured on, and of which versions.

use std::fs;
use std::process::Command;

use crate::callgrind;

/// Those that are measured beside ours.
pub(crate) const OF_TASKS: [&str; 7] = [
    "tokio",
    "dial9-tokio-telemetry",
    "tokio-metrics",
    "console-subscriber",
    "tokio-dtrace",
    "axum",
    "hyper",
];

/// Those of `FUNCTIONS.md`.
pub(crate) const OF_FUNCTIONS: [&str; 8] = [
    "tokio",
    "await-tree",
    "async-backtrace",
    "fastrace",
    "hotpath",
    "tokio-metrics",
    "tracing",
    "tracing-subscriber",
];

/// A list in Markdown.
pub(crate) fn describe(crates: &[&str]) -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let models = || cpuinfo.lines().filter_map(|line| line.strip_prefix("model name"));
    let model =
        models().next().map_or("unknown", |model| model.trim_start_matches([' ', '\t', ':']));
    let file = |path| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let clock = file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let crates = crates.iter().map(|name| format!("{name} {}", version(name))).collect::<Vec<_>>();
    let crates = crates.join(", ");
    format!(
        "- Machine: {model}, {} cores; Linux {}, clock source {clock}\n\
         - {}; {}\n\
         - {crates}\n\
         - tokio-statemap at revision {}\n",
        models().count(),
        file("/proc/sys/kernel/osrelease"),
        said("rustc", &["--version"]),
        callgrind::version().unwrap_or("no valgrind: instructions were not counted".to_owned()),
        revision(),
    )
}

fn revision() -> String {
    let revision = said("git", &["rev-parse", "--short=12", "HEAD"]);
    // What this writes itself is no change.
    let written =
        [":!/tokio-statemap/benches/RESULTS.md", ":!/tokio-statemap/benches/FUNCTIONS.md"];
    match said("git", &[&["status", "--porcelain", "--", ":/"], &written[..]].concat()) {
        changes if changes.is_empty() => revision,
        _ => format!("{revision}, changed"),
    }
}

/// What a program prints.
fn said(program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    let output = command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    output.map_or_else(
        |_| "unknown".to_owned(),
        |o| String::from_utf8_lossy(&o.stdout).trim().to_owned(),
    )
}

/// The version of a crate in the lock file.
fn version(name: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let (_, package) =
        lock.split_once(&format!("name = \"{name}\"\nversion = \"")).expect("it is used");
    package.split_once('"').expect("a version").0
}
