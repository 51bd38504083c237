//! The first sentence names the function and the line that held a worker, and what it did there, where all
//! tasks are spawned at one line.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;

use tests::build::{Variant, build_program, strip_debug};
use tests::child::{Running, command, folder};
use tests::left_out::not_allowed;

/// What is in each way's first sentence: the function or functions of which one is blamed (which, if it is
/// inlined, may be its caller's), the lines, and what it did.
#[derive(Clone, Copy, Debug)]
struct Expected {
    /// The way, as the program takes it.
    way: &'static str,
    /// In the program, the line with this comment is to blame; or if it computes, one of its function.
    line: &'static str,
    /// What it did, in words.
    act: &'static str,
}

/// All ways.
const ALL: [Expected; 10] = [
    Expected { way: "sleeps", line: "// sleeps", act: "blocked in std::thread::" },
    Expected { way: "computes", line: "// computes", act: "computed" },
    Expected { way: "inlined", line: "// inlined", act: "computed" },
    Expected { way: "generic", line: "// generic", act: "blocked in std::thread::" },
    Expected { way: "dependency", line: "// dependency", act: "computed" },
    Expected { way: "pipe", line: "// pipe", act: "read a pipe (read)" },
    Expected { way: "mutex", line: "// mutex", act: "waited for a std Mutex (futex)" },
    Expected { way: "thread", line: "// thread", act: "waited for a thread (futex)" },
    Expected { way: "faults", line: "// faults", act: "computed" },
    Expected { way: "endless", line: "// endless", act: "computed" },
];

/// How often a program is run until somebody is named. It holds its worker until it was seen, so that once is enough,
/// unless the machine takes the processor away meanwhile.
const RUNS: usize = 5;

/// The report of the first run of `program` in this way that names somebody, or else of the last one.
fn report_of(program: &Path, name: &str, way: &str) -> String {
    let folder = folder(Path::new(env!("CARGO_TARGET_TMPDIR")), &format!("{name}-{way}"));
    let mut report = String::new();
    for run in 1..=RUNS {
        let ended = Running::start(command(program, &folder).arg(way)).end();
        assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
        report = std::fs::read_to_string(folder.join("report.txt")).expect("it is written");
        if is_anyone_named(&report) {
            println!("{name}, {way}: named in run {run}");
            return report;
        }
        println!("{name}, {way}: nobody is named in run {run}\n{report}");
    }
    report
}

/// Whether the report begins with someone, right or wrong, and not with what is the machine's doing, or unknown.
fn is_anyone_named(report: &str) -> bool {
    let first = verdict(report);
    // After a second of holding it is a stall: there the function is named, but no line.
    let is_stall =
        first.starts_with("culprits::hold::") && first.contains(" stopped the runtime: ");
    let starts = ["Nothing held the runtime up", "No poll held a worker", "Only "];
    !is_stall && !starts.iter().any(|start| first.starts_with(start))
}

/// The lines that are right: that with the comment, and if it computes the rest of its function.
fn lines(expected: &Expected) -> std::ops::RangeInclusive<usize> {
    let source = include_str!("../../src/bin/culprits/hold.rs");
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

/// The report's first sentences, in one line.
fn verdict(report: &str) -> String {
    report.split("\n\n").next().unwrap_or_default().replace('\n', " ")
}

fn assert_named(program: &Path, name: &str, expected: &Expected) {
    assert_names(&report_of(program, name, expected.way), expected);
}

fn assert_names(report: &str, expected: &Expected) {
    let first = verdict(report);
    let named = first.split(" at tests/src/bin/culprits/hold.rs:").nth(1);
    let line = named.and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
    assert!(line.is_some_and(|line| lines(expected).contains(&line)), "{expected:?}\n{report}");
    assert!(first.contains(expected.act), "{expected:?}\n{report}");
}

#[test]
fn each_is_named() {
    let program = Path::new(env!("CARGO_BIN_EXE_culprits"));
    // Two at a time: most of the time they read their debug information.
    std::thread::scope(|scope| {
        for half in ALL.chunks(ALL.len() / 2) {
            scope.spawn(move || {
                half.iter().for_each(|expected| assert_named(program, "culprits", expected));
            });
        }
    });
}

/// Where the program may have another view of the files: its name server is one that never answers.
#[test]
fn who_looks_a_name_up_is_named() {
    let server = UdpSocket::bind("127.53.7.1:53");
    let may_mount = Command::new("unshare").args(["--mount", "true"]).status();
    let (Ok(_server), true) = (server, may_mount.is_ok_and(|status| status.success())) else {
        let why = "it takes the right to be a name server, and to mount files";
        return not_allowed("who looks a name up", why);
    };
    let folder = folder(Path::new(env!("CARGO_TARGET_TMPDIR")), "culprits-name");
    let servers = folder.join("resolv.conf");
    std::fs::write(&servers, "nameserver 127.53.7.1\noptions timeout:2 attempts:1\n")
        .expect("it can be written");
    let mut program = command(Path::new("unshare"), &folder);
    program.args(["--mount", "sh", "-c"]);
    program.arg(r#"mount --bind "$1" /etc/resolv.conf && exec "$2" name"#);
    program.args(["sh".as_ref(), servers.as_os_str(), env!("CARGO_BIN_EXE_culprits").as_ref()]);
    let ended = Running::start(&mut program).end();
    assert!(ended.status.success(), "{ended:?}");
    let report = std::fs::read_to_string(folder.join("report.txt")).expect("it is written");
    let act = "looked a host's name up (poll)";
    assert_names(&report, &Expected { way: "name", line: "// name", act });
}

/// With optimisation across crates, and without unwinding: the tables that stacks are followed by are there
/// all the same.
#[test]
#[ignore = "slow: builds a program"]
fn each_is_named_in_release() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = build_program(folder, Variant::Release, "culprits");
    for expected in &ALL {
        assert_named(&program, "culprits-release", expected);
    }
}

/// A program that loads no libraries; and one of which nothing is known but the names of its functions.
#[test]
#[ignore = "slow: builds a program"]
#[cfg(target_env = "gnu")]
fn each_is_named_in_a_static_program_and_without_lines() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = build_program(folder, Variant::Static, "culprits");
    for expected in &ALL {
        assert_named(&program, "culprits-static", expected);
    }
    let without_lines = folder.join("culprits-without-lines");
    strip_debug(&program, &without_lines);
    for expected in &ALL {
        let report = report_of(&without_lines, "culprits-without-lines", expected.way);
        let function = match expected.way {
            "sleeps" => "deep",
            // Only debug information tells of a function that was inlined.
            "inlined" => "hold::second",
            way => way,
        };
        let first = verdict(&report);
        let named = first.split(" held the runtime up").next().unwrap_or_default();
        assert!(named.contains(function), "{expected:?}\n{report}");
        assert!(first.contains(expected.act), "{expected:?}\n{report}");
    }
}
