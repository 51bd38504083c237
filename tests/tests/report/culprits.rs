//! The first sentence names the function and the line that blocked a worker, and what it did there, even if all tasks are
//! spawned at one line.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use tests::build::{Variant, build_program, strip_debug};
use tests::child::{Running, command};
use tests::files::folder;
use tests::left_out::not_allowed;

/// The expected content of the first sentence.
#[derive(Clone, Copy, Debug)]
struct Expected {
    /// The program's argument: the way in which it blocks.
    way: &'static str,
    /// The comment of the line that is to blame. If the way computes, the other lines of its function are right, too.
    line: &'static str,
    /// The words for what the function did.
    cause: &'static str,
}

const ALL: [Expected; 11] = [
    Expected { way: "sleeps", line: "// sleeps", cause: "blocked in std::thread::" },
    Expected { way: "computes", line: "// computes", cause: "computed" },
    Expected { way: "inlined", line: "// inlined", cause: "computed" },
    Expected { way: "generic", line: "// generic", cause: "blocked in std::thread::" },
    Expected { way: "dependency", line: "// dependency", cause: "computed" },
    Expected { way: "pipe", line: "// pipe", cause: "read a pipe (read)" },
    Expected { way: "mutex", line: "// mutex", cause: "waited for a std Mutex (futex)" },
    Expected {
        way: "watch",
        line: "// watch",
        cause: "waited for the value of a watch channel (futex)",
    },
    Expected { way: "thread", line: "// thread", cause: "waited for a thread (futex)" },
    Expected { way: "faults", line: "// faults", cause: "computed" },
    Expected { way: "endless", line: "// endless", cause: "computed" },
];

/// A program whose runs are counted.
///
/// It blocks its worker until the block was sampled. If the machine takes the processor away meanwhile, the report may still
/// blame nothing, so a way is run up to [`Runs::MOST`] times, and the rate of reports that blame something is asserted.
struct Runs<'a> {
    program: &'a Path,
    name: &'a str,
    all: AtomicUsize,
    blaming: AtomicUsize,
}

impl<'a> Runs<'a> {
    /// The most runs of one way.
    const MOST: usize = 5;

    fn new(program: &'a Path, name: &'a str) -> Self {
        Self { program, name, all: AtomicUsize::new(0), blaming: AtomicUsize::new(0) }
    }

    /// Returns the report of the first run in this way that blames something, right or wrong, or else of the last run. A
    /// block of over a second is a stall, which may come from another line of the function: there, one that is right is
    /// looked for.
    fn report(&self, way: &str, is_right: impl Fn(&str) -> bool) -> String {
        let folder = folder(env!("CARGO_TARGET_TMPDIR"), &format!("{}-{way}", self.name));
        let mut report = String::new();
        for _ in 0..Self::MOST {
            let ended = Running::start(command(self.program, &folder).arg(way)).end();
            assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
            self.all.fetch_add(1, Ordering::Relaxed);
            report = std::fs::read_to_string(folder.join("report.txt")).expect("it is written");
            if blames_something(&report) && (!is_stall(&report) || is_right(&report)) {
                self.blaming.fetch_add(1, Ordering::Relaxed);
                break;
            }
            println!("{}, {way}: nothing is blamed, or a stall\n{report}", self.name);
        }
        report
    }

    fn assert_named(&self, expected: &Expected) {
        let report = self.report(expected.way, |report| names(report, expected));
        assert_names(&report, expected);
    }

    /// Asserts that at least a third of the runs blamed something: nearly all do on an idle machine, and half of them beside
    /// fifteen other programs for each processor.
    fn assert_rate(&self) {
        let (all, blaming) =
            (self.all.load(Ordering::Relaxed), self.blaming.load(Ordering::Relaxed));
        println!("{}: {blaming} of {all} runs blame something", self.name);
        assert!(3 * blaming >= all, "{blaming} of {all} runs");
    }
}

/// Returns whether the verdict blames something, and not the machine or something unknown.
fn blames_something(report: &str) -> bool {
    let first = verdict(report);
    let starts = ["Nothing held the runtime up", "The workers were busy", "Only "];
    // Where no sample was taken, those that wait for the one that blocks are told.
    let is_of_victims = first.contains(" never finished: ");
    !is_of_victims && !starts.iter().any(|start| first.starts_with(start))
}

/// Returns whether the verdict says that a function of the program stopped the runtime.
fn is_stall(report: &str) -> bool {
    let first = verdict(report);
    first.starts_with("culprits::hold::") && first.contains(" stopped the runtime: ")
}

/// Returns the right lines: the one with the comment and, if the way computes, the rest of its function.
fn lines(expected: &Expected) -> std::ops::RangeInclusive<usize> {
    let source = include_str!("../../culprits/hold.rs");
    let mut lines = source.lines().enumerate();
    let (at, _) = lines.find(|(_, line)| line.ends_with(expected.line)).expect("it is there");
    match expected.cause {
        "computed" => {
            let (end, _) = lines.find(|(_, line)| *line == "}").expect("it ends");
            at + 1..=end + 1
        }
        _ => at + 1..=at + 1,
    }
}

/// Returns the report's first paragraph in one line.
fn verdict(report: &str) -> String {
    report.split("\n\n").next().unwrap_or_default().replace('\n', " ")
}

/// Returns whether the verdict names the right line, and what was done there.
fn names(report: &str, expected: &Expected) -> bool {
    let first = verdict(report);
    let named = first.split(" at tests/culprits/hold.rs:").nth(1);
    let line = named.and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
    // It gives the memory back as well, which may take longer.
    let is_drop = expected.way == "faults" && first.contains("dropped a value");
    let is_cause = first.contains(expected.cause) || is_drop;
    line.is_some_and(|line| lines(expected).contains(&line)) && is_cause
}

fn assert_names(report: &str, expected: &Expected) {
    assert!(names(report, expected), "{expected:?}\n{report}");
}

#[test]
fn the_function_that_blocks_is_named() {
    let runs = Runs::new(Path::new(env!("CARGO_BIN_EXE_culprits")), "culprits");
    // Two run at a time, as they mostly read their debug information.
    std::thread::scope(|scope| {
        for half in ALL.chunks(ALL.len() / 2) {
            scope.spawn(|| half.iter().for_each(|expected| runs.assert_named(expected)));
        }
    });
    runs.assert_rate();
}

/// The program's name server never answers, if the machine allows to mount its configuration.
#[test]
fn a_lookup_of_a_name_is_named() {
    let server = UdpSocket::bind("127.53.7.1:53");
    let may_mount = Command::new("unshare").args(["--mount", "true"]).status();
    let (Ok(_server), true) = (server, may_mount.is_ok_and(|status| status.success())) else {
        let why = "it takes the right to be a name server, and to mount files";
        return not_allowed("a lookup of a name", why);
    };
    let folder = folder(env!("CARGO_TARGET_TMPDIR"), "culprits-name");
    let servers = folder.join("resolv.conf");
    std::fs::write(&servers, "nameserver 127.53.7.1\noptions timeout:2 attempts:1\n")
        .expect("it can be written");
    let mut report = String::new();
    // On a busy machine no sample may be taken.
    for _ in 0..Runs::MOST {
        let mut program = command(Path::new("unshare"), &folder);
        program.args(["--mount", "sh", "-c"]);
        program.arg(r#"mount --bind "$1" /etc/resolv.conf && exec "$2" name"#);
        program.args(["sh".as_ref(), servers.as_os_str(), env!("CARGO_BIN_EXE_culprits").as_ref()]);
        let ended = Running::start(&mut program).end();
        assert!(ended.status.success(), "{ended:?}");
        report = std::fs::read_to_string(folder.join("report.txt")).expect("it is written");
        if blames_something(&report) {
            break;
        }
    }
    let cause = "looked a host's name up (poll)";
    assert_names(&report, &Expected { way: "name", line: "// name", cause });
}

/// The program is optimised across crates and doesn't unwind, but still has the tables for following stacks.
#[test]
#[ignore = "slow: builds a program"]
fn the_function_that_blocks_is_named_in_release() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = build_program(folder, Variant::Release, "culprits");
    let runs = Runs::new(&program, "culprits-release");
    ALL.iter().for_each(|expected| runs.assert_named(expected));
    runs.assert_rate();
}

/// One program loads no libraries, and the other has only the names of its functions.
#[test]
#[ignore = "slow: builds a program"]
#[cfg(target_env = "gnu")]
fn the_function_that_blocks_is_named_in_a_static_program_and_without_lines() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = build_program(folder, Variant::Static, "culprits");
    let runs = Runs::new(&program, "culprits-static");
    ALL.iter().for_each(|expected| runs.assert_named(expected));
    runs.assert_rate();
    let without_lines = folder.join("culprits-without-lines");
    strip_debug(&program, &without_lines);
    let runs = Runs::new(&without_lines, "culprits-without-lines");
    for expected in &ALL {
        let function = match expected.way {
            "sleeps" => "deep",
            // Only debug information has inlined functions.
            "inlined" => "hold::second",
            way => way,
        };
        let is_right = |report: &str| {
            let first = verdict(report);
            let ends = first.find(" held the runtime up").or(first.find(" stopped the runtime"));
            // Where the machine took most of the time, it says first that little was held up.
            let ends = ends.or(first.find(expected.cause));
            ends.is_some_and(|end| first[..end].contains(function))
                && first.contains(expected.cause)
        };
        let report = runs.report(expected.way, is_right);
        assert!(is_right(&report), "{expected:?}\n{report}");
    }
    runs.assert_rate();
}
