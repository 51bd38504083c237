//! The machine and the versions of a measurement.

use std::fs;
use std::process::Command;

use crate::callgrind;

/// The crates that are measured next to ours.
pub(crate) const OF_TASKS: [&str; 7] = [
    "tokio",
    "dial9-tokio-telemetry",
    "tokio-metrics",
    "console-subscriber",
    "tokio-dtrace",
    "axum",
    "hyper",
];

/// The crates of `FUNCTIONS.md`.
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

/// Returns the description as a Markdown list.
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
        output("rustc", &["--version"]),
        callgrind::version().unwrap_or("no valgrind: instructions were not counted".to_owned()),
        revision(),
    )
}

fn revision() -> String {
    let revision = output("git", &["rev-parse", "--short=12", "HEAD"]);
    // Files written by this program are no changes.
    let written =
        [":!/tokio-statemap/benches/RESULTS.md", ":!/tokio-statemap/benches/FUNCTIONS.md"];
    match output("git", &[&["status", "--porcelain", "--", ":/"], &written[..]].concat()) {
        changes if changes.is_empty() => revision,
        _ => format!("{revision}, changed"),
    }
}

/// Returns the output of a program.
fn output(program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    let output = command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    output.map_or_else(
        |_| "unknown".to_owned(),
        |o| String::from_utf8_lossy(&o.stdout).trim().to_owned(),
    )
}

/// Returns the version of a crate in the lock file.
fn version(name: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let (_, package) =
        lock.split_once(&format!("name = \"{name}\"\nversion = \"")).expect("it is used");
    package.split_once('"').expect("a version").0
}
