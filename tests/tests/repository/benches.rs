//! A benchmark that lacks its tools fails with one line that says how to install them.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tests::browser::browser;
use tests::build::build;
use tests::files;

const TARGET: &str = env!("CARGO_TARGET_TMPDIR");

/// Builds a benchmark by `cargo test`, which takes less time than `cargo bench`.
fn bench(name: &str) -> PathBuf {
    let arguments = ["test", "--bench", name, "--no-run"];
    build(Path::new(TARGET), "benches-built", &arguments, name)
}

fn folder(name: &str) -> PathBuf {
    files::folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/benches"), name)
}

/// Returns a command that finds other programs in `path` only.
fn command(program: impl AsRef<OsStr>, path: &Path) -> Command {
    let mut command = Command::new(program);
    for name in ["STATEMAP_BROWSER", "NODE_PATH", "HOME", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    command.env("PATH", path);
    command
}

/// Asserts that stderr is just `line` and the exit status is 1, and returns stdout.
#[track_caller]
fn refused(output: Output, line: &str) -> String {
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, format!("{line}\n"), "{stdout}");
    assert_eq!(output.status.code(), Some(1), "{stdout}");
    stdout
}

#[test]
#[ignore = "slow: builds the benchmarks"]
fn the_page_benchmark_without_node_measures_all_but_the_browser() {
    let output = command(bench("page"), &folder("no-node")).args(["--bench", "8"]).output();
    let stdout = refused(
        output.unwrap(),
        "no figures of a browser: there is no `node` in PATH; install Node.js 20 or later",
    );
    assert!(stdout.contains("\n8 tasks: "), "{stdout}");
    assert!(stdout.contains("\n  page written in "), "{stdout}");
    assert!(stdout.contains("\n  SVG  written in "), "{stdout}");
    assert!(!stdout.contains("100 000 tasks"), "{stdout}");
}

#[test]
#[ignore = "slow: builds the benchmarks"]
fn the_page_benchmark_refuses_an_invalid_number_of_tasks() {
    for argument in ["9", "all", "--tasks"] {
        let output = command(bench("page"), &folder("wrong")).arg(argument).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let line = format!("`{argument}` is none of 8, 1000, 10000, 100000\n");
        assert_eq!((output.status.code(), stderr), (Some(2), line));
    }
}

#[test]
#[ignore = "slow: builds the benchmarks"]
fn the_instruction_gate_says_that_valgrind_is_missing() {
    let output = command(bench("hooks"), &folder("no-valgrind")).arg("check").output();
    let line = "instructions can't be counted: there is no `valgrind` in PATH; install it";
    assert_eq!(refused(output.unwrap(), line), "");
}

#[test]
#[ignore = "slow: builds the benchmarks"]
fn the_instruction_gate_says_that_valgrind_fails() {
    let path = folder("bad-valgrind");
    let (text, program) = (path.join("text"), path.join("valgrind"));
    fs::write(&text, "#!/bin/sh\necho 'valgrind: no' >&2\necho more >&2\nexit 1\n").unwrap();
    // Another process copies the script: a file that this process has open for writing can't be executed.
    let install = Command::new("install").arg("-m755").arg(&text).arg(&program).status().unwrap();
    assert!(install.success());
    let output = command(bench("hooks"), &path).arg("check").output();
    let line = "instructions can't be counted: valgrind: exit status: 1: valgrind: no";
    assert_eq!(refused(output.unwrap(), line), "");
}

/// Node is installed in this case, but the browser's driver lacks something.
#[test]
#[ignore = "slow: builds the benchmarks"]
fn the_browser_benchmark_says_what_is_missing() {
    let Some(with) = browser(Path::new(TARGET)) else { return };
    let path = folder("no-browser");
    let script: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "../tokio-statemap/benches/page/browser.mjs"].iter().collect();
    let run = |modules: Option<&Path>, browser: Option<&str>| {
        let mut node = command(with.node(), &path);
        node.arg(&script).args(["page.html", "image.svg"]);
        modules.map(|modules| node.env("NODE_PATH", modules));
        browser.map(|browser| node.env("STATEMAP_BROWSER", browser));
        node.output().unwrap()
    };
    let no = "no figures of a browser: ";
    assert_eq!(
        refused(run(None, None), &format!("{no}NODE_PATH isn't set")),
        "",
        "it is the bench that sets it"
    );
    let modules = folder("modules");
    let there = modules.display();
    refused(
        run(Some(&modules), None),
        &format!(
            "{no}there is no playwright-core in {there}; \
             `npm install --prefix {there} playwright-core` installs it"
        ),
    );
    let playwright = modules.join("node_modules/playwright-core");
    fs::create_dir_all(&playwright).unwrap();
    let launch = "exports.chromium = { launch() { throw new Error('it is gone\\nmore') } };";
    fs::write(playwright.join("index.js"), launch).unwrap();
    refused(
        run(Some(&modules), None),
        &format!(
            "{no}there is no Chromium, Chrome or Edge in PATH; install one, or set \
             STATEMAP_BROWSER to its path"
        ),
    );
    refused(run(Some(&modules), Some("/nowhere/chromium")), &format!("{no}it is gone"));
}
