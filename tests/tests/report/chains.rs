//! What tasks await, found in their memory: without any annotation, optimised or not, each task's chain is
//! that of the source; and where the program doesn't say enough, one line says so and nothing else happens.
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
use tests::child::{Running, command, folder};

/// The tasks of the program in the order of their spawns, by the names of what they await: what is in
/// brackets is awaited by what stands before, and what is separated by commas at once.
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

/// Those of the tasks that tasks spawn.
const OTHERS: [&str; 2] = ["other(Pending<()>)"; 2];

/// What is printed with indents, as lines with brackets.
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
        // When they are spawned depends on the runtime.
        found.sort();
        let mut expected: Vec<_> = CHAINS.iter().chain(&OTHERS).map(|s| (*s).to_owned()).collect();
        expected.sort();
        assert_eq!(found, expected, "{flavor}\n{text}\n{stderr}");
        for line in text.lines().filter(|line| line.starts_with("chains::")) {
            // Of a macro of its own crate only its own line is known.
            let has_line = line.contains(" tests/src/bin/chains.rs:");
            assert_eq!(has_line, line != "chains::in_a_macro", "{line}");
        }
    }
}

/// The line of the program's source that ends so.
fn at(end: &str) -> String {
    let source = include_str!("../../src/bin/chains.rs");
    let line = source.lines().position(|line| line.ends_with(end)).expect("it is there") + 1;
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
        // `Runtime::block_on` has no task.
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
        // It is the probe's.
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

/// The stderr of a program of other tests that prints trees, each time on a signal; and what of it are the trees of two
/// times at which all of its tasks waited.
fn on_a_signal(program: &Path, name: &str) -> (String, String) {
    let folder = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/chains"), name);
    let mut command = command(program, &folder);
    let stderr = folder.join("stderr");
    command.stderr(File::create(&stderr).expect("it is made"));
    let mut running = Running::start(command.arg("waits"));
    running.wait_for("ready");
    let printed = || fs::read_to_string(&stderr).expect("it is text");
    let times = || printed().matches("nothing will wake it\n\n").count();
    let until = Instant::now() + Duration::from_secs(60);
    // It is asked until all tasks wait, twice.
    let mut twice = Vec::new();
    while twice.len() < 2 {
        let (before, from) = (times(), printed().len());
        running.signal(libc::SIGUSR1);
        // That is their end.
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
    let (text, twice) = on_a_signal(&program, "signal");
    assert!(twice.contains(": 7 tasks: 7 waiting.\n") && !text.contains(NOT_KNOWN), "{text}");
    // In one task it is a branch of a `join!`.
    let sleeps = twice.matches("tests::programs::trees::sleep_long at ").count();
    assert_eq!(sleeps, 2 * 2, "{text}");

    let stripped = Path::new(TARGET).join("trees-stripped");
    strip_debug(&program, &stripped);
    let (text, twice) = on_a_signal(&stripped, "stripped");
    let told = format!("{NOT_KNOWN}it has no debug information: build it with `debug = \"full\"`");
    assert_eq!(text.matches(NOT_KNOWN).count(), 1, "{text}");
    assert_eq!(text.matches(&told).count(), 1, "{text}");
    // As without the feature.
    let unknown = ": 7 tasks: 7 waiting. Of 1 it isn't known where it waits: it wasn't spawned";
    assert!(twice.contains(unknown), "{text}");
}

#[test]
#[ignore = "slow: builds programs"]
fn each_task_s_chain_is_that_of_the_source() {
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
fn what_it_takes_to_know_them_is_told() {
    // Only what it knows of itself tells a program how its tasks are kept.
    let output = Command::new(program(Variant::Static)).output().expect("it runs");
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let stderr = String::from_utf8(output.stderr).expect("it is text");
    let told = stderr.lines().filter(|line| line.contains(NOT_KNOWN));
    assert_eq!(told.count(), 1, "{stderr}");
    assert!(stderr.contains("`debug = \"full\"`"), "{stderr}");
}
