//! What tasks await, found in their memory: without any annotation, optimised or not, each task's chain is
//! that of the source; and where the program doesn't say enough, one line says so and nothing else happens.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::path::Path;
use std::process::Command;

use tests::build::build;

/// The tasks of the program in the order of their spawns, by the names of what they await: what is in
/// brackets is awaited by what stands before, and what is separated by commas at once.
const CHAINS: [&str; 14] = [
    "joined(tokio::join!(middle(leaf(Sleep)),other(Pending<()>)))",
    "joined_partly(tokio::join!(other(Pending<()>)))",
    "selected(tokio::select!(leaf(Sleep),middle(leaf(Sleep))))",
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

fn program(more: &[&str], config: &str) -> std::path::PathBuf {
    let mut arguments = vec!["build", "--package", "tests", "--bin", "chains"];
    arguments.extend(["--features", "dwarf", "--config", config]);
    arguments.extend(more);
    build(Path::new(env!("CARGO_TARGET_TMPDIR")), &arguments, "chains")
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
        assert_eq!(found, expected, "{flavor}\n{text}");
        for line in text.lines().filter(|line| line.starts_with("chains::")) {
            assert!(line.contains(" tests/src/bin/chains.rs:"), "{line}");
        }
    }
}

#[test]
fn each_task_s_chain_is_that_of_the_source() {
    assert_chains(&program(&[], "profile.dev.debug=\"full\""));

    // Only what it knows of itself tells a program how its tasks are kept.
    let lines_only = program(&[], "profile.dev.debug=\"line-tables-only\"");
    let output = Command::new(lines_only).output().expect("it runs");
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let stderr = String::from_utf8(output.stderr).expect("it is text");
    let told = stderr.lines().filter(|line| line.contains("what tasks await is not known"));
    assert_eq!(told.count(), 1, "{stderr}");
    assert!(stderr.contains("`debug = \"full\"`"), "{stderr}");

    let more = ["--release", "--config", "profile.release.codegen-units=16"];
    assert_chains(&program(&more, "profile.release.debug=\"full\""));
}
