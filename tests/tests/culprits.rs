//! The first sentence names the function and the line that held a worker, and what it did there, where all
//! tasks are spawned at one line.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::path::Path;

use tests::build::build;
use tests::child::{Running, command, folder};
use tests::programs::culprits::{ALL, Expected};

/// The report of a run of `program` that holds a worker in this way.
fn report_of(program: &Path, name: &str, way: &str) -> String {
    let folder = folder(Path::new(env!("CARGO_TARGET_TMPDIR")), &format!("{name}-{way}"));
    let ended = Running::start(command(program, &folder).arg(way)).end();
    assert!(ended.status.success(), "{ended:?}");
    std::fs::read_to_string(folder.join("report.txt")).expect("it is written")
}

/// The lines that are right: that with the comment, and if it computes the rest of its function.
fn lines(expected: &Expected) -> std::ops::RangeInclusive<usize> {
    let source = include_str!("../src/programs/culprits.rs");
    let mut lines = source.lines().enumerate();
    let (at, _) = lines.find(|(_, line)| line.ends_with(expected.line)).expect("it is there");
    match expected.act {
        "computed" => {
            let (end, _) = lines.find(|(_, line)| *line == "}").expect("it ends");
            at + 1..=end + 1
        }
        _ => at + 1..=at + 1,
    }
}

fn assert_named(program: &Path, name: &str, expected: &Expected) {
    let report = report_of(program, name, expected.way);
    let first = report.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let named = first.split(" at tests/src/programs/culprits.rs:").nth(1);
    let line = named.and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
    assert!(line.is_some_and(|line| lines(expected).contains(&line)), "{expected:?}\n{report}");
    assert!(first.contains(expected.act), "{expected:?}\n{report}");
}

#[test]
fn each_is_named() {
    for expected in &ALL {
        assert_named(Path::new(env!("CARGO_BIN_EXE_culprits")), "culprits", expected);
    }
}

/// With optimisation across crates, without unwinding, and linked statically: the tables that stacks are
/// followed by are there all the same.
#[test]
fn each_is_named_in_release() {
    let arguments = [
        "build",
        "--release",
        "--package",
        "tests",
        "--bin",
        "culprits",
        "--config",
        "profile.release.lto=\"thin\"",
        "--config",
        "profile.release.panic=\"abort\"",
    ];
    let program = build(Path::new(env!("CARGO_TARGET_TMPDIR")), &arguments, "culprits");
    for expected in &ALL {
        assert_named(&program, "culprits-release", expected);
    }
}
