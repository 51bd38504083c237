//! The memory of tasks shows what they await.
//!
//! Without any annotation, optimised or not, each task's chain is that of the source. If the program's debug information
//! isn't sufficient, one line says so, and nothing else changes.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tests::build::{Variant, build_program, strip_debug};
use tests::child::{Running, command};
use tests::files::{folder, line_ending};

/// The chains of the program's tasks, in the order of their spawns: a name awaits those in brackets after it, and those
/// separated by commas together.
const CHAINS: [&str; 17] = [
    "joined(tokio::join!(middle(leaf(Sleep)),other(Pending<()>)))",
    "joined_partly(tokio::join!(other(Pending<()>)))",
    "selected(tokio::select!(leaf(Sleep),middle(leaf(Sleep))))",
    "selected_partly(tokio::select!(middle(leaf(Sleep))))",
    "in_a_macro(leaf(Sleep))",
    "joined_as_many(JoinAll<async chains::leaf>(JoinAllKind<async chains::leaf>(leaf(Sleep),leaf(Sleep))))",
    "boxed(leaf(Sleep))",
    "recursive(recursive(recursive(recursive(other(Pending<()>)))))",
    "receives(recv(PollFn<closure of tokio::sync::mpsc::bounded::recv>))",
    "locks(lock(lock(acquire(Acquire))))",
    "accepts(accept(async_io(readiness(readiness(Readiness)))))",
    "times_out(Timeout<async chains::middle>(middle(leaf(Sleep))))",
    "second_of_two(leaf(Sleep))",
    "waits_for_a_task(JoinHandle<()>)",
    "of_a_set(join_next(PollFn<closure of tokio::task::join_set::join_next>))",
    "large(leaf(Sleep))",
    "main(middle(leaf(Sleep)))",
];

/// The chains of tasks that other tasks spawn.
const OTHERS: [&str; 2] = ["other(Pending<()>)"; 2];

/// Converts the indented output to chains with brackets.
fn chains(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut depth = 0;
    for line in text.lines() {
        let indent = (line.len() - line.trim_start().len()) / 2;
        let path = line.trim_start().rsplit_once(' ').filter(|(_, place)| place.contains(".rs:"));
        let path = path.map_or(line.trim_start(), |(path, _)| path);
        let types = path.find('<').filter(|at| !path[*at..].contains(">::")).unwrap_or(path.len());
        let name = match path.ends_with('!') {
            true => path,
            false => &path[path[..types].rfind("::").map_or(0, |at| at + 2)..],
        };
        if indent == 0 {
            if let Some(last) = all.last_mut() {
                last.push_str(&")".repeat(depth));
            }
            all.push(name.to_owned());
        } else {
            let last = all.last_mut().expect("one begins without indent");
            match indent > depth {
                true => last.push('('),
                false => last.push_str(&(")".repeat(depth - indent) + ",")),
            }
            last.push_str(name);
        }
        depth = indent;
    }
    if let Some(last) = all.last_mut() {
        last.push_str(&")".repeat(depth));
    }
    all
}

const TARGET: &str = env!("CARGO_TARGET_TMPDIR");

fn program(variant: Variant) -> PathBuf {
    build_program(Path::new(TARGET), variant, "chains")
}

#[track_caller]
fn assert_chains(program: &Path) {
    for flavor in ["multi-thread", "current-thread"] {
        let output = Command::new(program).arg(flavor).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        let text = String::from_utf8(output.stdout).expect("it is text");
        let mut found = chains(&text);
        // The order of spawns depends on the runtime.
        found.sort();
        let mut expected: Vec<_> = CHAINS.iter().chain(&OTHERS).map(|s| (*s).to_owned()).collect();
        expected.sort();
        assert_eq!(found, expected, "{flavor}\n{text}\n{stderr}");
        for line in text.lines().filter(|line| line.starts_with("chains::")) {
            // In a macro of its own crate only the macro's own line is known.
            let has_line = line.contains(" tests/src/bin/chains.rs:");
            assert_eq!(has_line, line != "chains::in_a_macro", "{line}");
        }
    }
}

/// Returns the place of the line of the program's source that ends with `end`.
fn at(end: &str) -> String {
    let line = line_ending(include_str!("../../src/bin/chains.rs"), end);
    format!("at tests/src/bin/chains.rs:{line}")
}

#[track_caller]
fn assert_trees(program: &Path) {
    let [leaf, middle, other] = ["// leaf", "// middle", "// other"].map(at);
    for flavor in ["multi-thread", "current-thread"] {
        let output = Command::new(program).args([flavor, "trees"]).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && stderr.is_empty(), "{stderr}");
        let text = String::from_utf8(output.stdout).expect("it is text");
        // The future of `Runtime::block_on` isn't a task.
        assert!(text.starts_with("20 tasks: 20 waiting.\n"), "{flavor}\n{text}");
        let has = |part: &str| assert!(text.contains(part), "{flavor}\n{part}\n{text}");
        let middles = |indent: &str| {
            format!(
                "chains::middle {middle}\n{indent}└ chains::leaf {leaf}\n{indent}  └ tokio::time::sleep::Sleep\n"
            )
        };
        has(&format!(
            "\n  chains::joined {}\n  └ tokio::join!\n    ├ {}",
            at("// joined"),
            middles("    │ ")
        ));
        has(&format!(
            "    └ chains::other {other}\n      └ core::future::pending::Pending<()>\n\n"
        ));
        has(&format!(
            "\n  chains::selected_partly {}\n  └ tokio::select!\n    └ {}\n",
            at("tokio::select! { // partly"),
            middles("      ")
        ));
        has(&format!(
            "\n  chains::times_out {}\n  └ tokio::time::timeout::Timeout<async chains::middle>\n    └ {}\n",
            at("// times out"),
            middles("      ")
        ));
        has(&format!(
            "\n  chains::locks {}\n  └ tokio::sync::mutex::Mutex<T>::lock\n\n",
            at("// locks")
        ));
        has(&format!(
            "\n  chains::in_a_macro in tests/src/bin/chains.rs\n  └ chains::leaf {leaf}\n"
        ));
        has(&format!(
            "\n  chains::joined_as_many {}\n  └ futures_util::future::join_all::JoinAll<async chains::leaf>\n    └ chains::leaf {leaf}\n      └ tokio::time::sleep::Sleep\n\n",
            at("// as many")
        ));
        // This line comes from the probe.
        let probed = at("// with a probe").replacen("at ", "", 1);
        let (_, probed) = text.split_once(&probed).expect("it has a tree");
        let (_, probed) = probed.split_once("\n").expect("it has a line");
        assert!(probed.starts_with(&format!("  {}", middles("  "))), "{flavor}\n{probed}");

        let json = text.lines().last().expect("it is JSON");
        let trees: serde_json::Value = serde_json::from_str(json).expect("it is JSON");
        let trees = trees.as_array().expect("they are several");
        let locks = trees.iter().find(|tree| tree.to_string().contains("chains::locks"));
        let frame = &locks.expect("it is there")["place"]["waits"][0];
        assert_eq!(frame["function"], "async chains::locks");
        let line = frame["line"].as_u64().expect("it is known");
        assert_eq!(format!("at {}:{line}", frame["file"].as_str().expect("too")), at("// locks"));
        assert!(frame["for_ns"].is_null(), "since when isn't known");
    }
}

/// Asks the program `trees` for its trees until all its tasks waited twice. Returns its stderr, and the trees of these two
/// times.
fn print_trees(program: &Path, name: &str) -> (String, String) {
    let folder = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/chains"), name);
    let mut command = command(program, &folder);
    let stderr = folder.join("stderr");
    command.stderr(File::create(&stderr).expect("it is made"));
    let mut running = Running::start(command.arg("waits"));
    running.wait_for("ready");
    let printed = || fs::read_to_string(&stderr).expect("it is text");
    let times = || printed().matches("nothing will wake the task\n\n").count();
    let until = Instant::now() + Duration::from_secs(60);

    let mut twice = Vec::new();
    while twice.len() < 2 {
        let (before, from) = (times(), printed().len());
        running.signal(libc::SIGUSR1);
        // The last line shows that the trees are complete.
        while times() == before {
            assert!(Instant::now() < until, "{}", printed());
            sleep(Duration::from_millis(5));
        }
        let trees = printed().split_off(from);
        twice.extend(Some(trees).filter(|trees| trees.contains(": 7 tasks: 7 waiting.")));
    }
    let text = printed();
    fs::write(folder.join("go_on"), "").expect("it is written");
    let ended = running.end();
    assert!(ended.status.success(), "{ended:?}");
    (text, twice.concat())
}

const NOT_KNOWN: &str = "what tasks await is not known (feature `dwarf`): ";

#[test]
#[ignore = "slow: builds programs"]
fn a_signal_prints_what_tasks_of_libraries_await() {
    let program = build_program(Path::new(TARGET), Variant::FullDebug, "trees");
    let (text, twice) = print_trees(&program, "signal");
    assert!(twice.contains(": 7 tasks: 7 waiting.\n") && !text.contains(NOT_KNOWN), "{text}");
    // One of the two tasks that sleep does so in a branch of a `join!`.
    let sleeps = twice.matches("tests::programs::trees::sleep_long at ").count();
    assert_eq!(sleeps, 2 * 2, "{text}");

    let stripped = Path::new(TARGET).join("trees-stripped");
    strip_debug(&program, &stripped);
    let (text, twice) = print_trees(&stripped, "stripped");
    let told = format!("{NOT_KNOWN}it has no debug information: build it with `debug = \"full\"`");
    assert_eq!(text.matches(NOT_KNOWN).count(), 1, "{text}");
    assert_eq!(text.matches(&told).count(), 1, "{text}");
    // As without the feature.
    let unknown = ": 7 tasks: 7 waiting. 1 task waits at an unknown place: it wasn't spawned";
    assert!(twice.contains(unknown), "{text}");
}

#[test]
#[ignore = "slow: builds programs"]
fn the_chain_of_each_task_is_that_of_the_source() {
    let full = program(Variant::FullDebug);
    assert_chains(&full);
    assert_trees(&full);

    let optimized = program(Variant::Release);
    assert_chains(&optimized);
    assert_trees(&optimized);
}

#[test]
#[ignore = "slow: builds a program"]
#[cfg(target_env = "gnu")]
fn missing_debug_information_is_reported() {
    // Only its own debug information tells a program the layout of its tasks.
    let output = Command::new(program(Variant::Static)).output().expect("it runs");
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let stderr = String::from_utf8(output.stderr).expect("it is text");
    let told = stderr.lines().filter(|line| line.contains(NOT_KNOWN));
    assert_eq!(told.count(), 1, "{stderr}");
    assert!(stderr.contains("`debug = \"full\"`"), "{stderr}");
}
