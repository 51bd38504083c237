//! Builds programs that `cargo test` doesn't build.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Builds with `cargo ARGUMENTS` and returns the path of the program `name`.
///
/// `target` is cargo's folder for files of tests. The program goes to `folder` in it; a program with other arguments
/// needs another folder. Crates that were built for the tests are not built again.
///
/// # Panics
///
/// If the build fails.
pub fn build(target: &Path, folder: &str, arguments: &[&str], name: &str) -> PathBuf {
    let mut command = cargo(target, &target.join(folder));
    run(command.args(arguments).args(AS_THE_TESTS), name)
}

/// Arguments that let cargo reuse the crates of the tests: with an example it takes the features of
/// dev-dependencies into account, as `cargo test` does.
const AS_THE_TESTS: [&str; 2] = ["--example", "basic"];

/// A set of build options that differs from that of `cargo test`.
#[derive(Clone, Copy, Debug)]
pub enum Variant {
    /// Full debug information.
    FullDebug,
    /// Optimised across crates, without unwinding; full debug information in `awaits`.
    Release,
}

/// Builds the package `name`, and returns the path of its program, which has the same name.
///
/// # Panics
///
/// If the build fails.
pub fn build_program(target: &Path, variant: Variant, name: &str) -> PathBuf {
    let folder = match (variant, name) {
        (Variant::FullDebug, _) => "full-debug",
        (Variant::Release, "awaits") => "release-awaits",
        (Variant::Release, _) => "release",
    };
    let mut command = cargo(target, &target.join(folder));
    command.args(["build", "--package", name]);
    match variant {
        Variant::FullDebug => {
            command.env("CARGO_PROFILE_DEV_DEBUG", "full");
        }
        Variant::Release => {
            command.arg("--release");
            let debug = if name == "awaits" { "full" } else { "line-tables-only" };
            for (key, value) in
                [("DEBUG", debug), ("LTO", "thin"), ("PANIC", "abort"), ("CODEGEN_UNITS", "16")]
            {
                command.env(format!("CARGO_PROFILE_RELEASE_{key}"), value);
            }
        }
    }
    run(&mut command, name)
}

/// Builds a program of the tests that is linked statically and doesn't unwind. Returns its path.
///
/// Only the program itself is compiled so: what it is made of was built for the tests, and would take a minute.
///
/// # Panics
///
/// If the build fails.
pub fn build_static(target: &Path, name: &str) -> PathBuf {
    let folder = target.join("static");
    let messages =
        messages(cargo(target, &folder).args(["build", "--bin", name]).args(AS_THE_TESTS));
    let is_it =
        |message: &&Value| message["target"]["name"] == name && message["executable"].is_string();
    let built = messages.iter().find(is_it).expect("cargo says what it built");
    let text = |value: &Value| value.as_str().expect("it is a text").to_owned();
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).canonicalize().unwrap();
    let source = PathBuf::from(text(&built["target"]["src_path"]));
    let program = folder.join(name);
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    // As cargo does, which the lines in reports depend on.
    rustc.current_dir(&root).arg(source.strip_prefix(&root).unwrap());
    rustc.args(["--crate-name", name, "--edition", &text(&built["target"]["edition"])]);
    rustc.args(["--cfg", "tokio_unstable", "-Cdebuginfo=line-tables-only"]);
    rustc.args(["-Cpanic=abort", "-Ctarget-feature=+crt-static", "-o"]).arg(&program);
    for name in ["libc", "serde_json", "tests", "tokio", "tokio_statemap"] {
        let is_it = |message: &&Value| {
            message["target"]["name"] == name && message["target"]["kind"][0] == "lib"
        };
        let library = messages.iter().rfind(is_it).expect("the program depends on it");
        let library = PathBuf::from(text(&library["filenames"][0]));
        rustc.arg("-L").arg(format!("dependency={}", library.parent().unwrap().display()));
        rustc.arg("--extern").arg(format!("{name}={}", library.display()));
    }
    for (name, value) in
        [("MANIFEST_DIR", env!("CARGO_MANIFEST_DIR")), ("PKG_VERSION", env!("CARGO_PKG_VERSION"))]
    {
        rustc.env(format!("CARGO_{name}"), value);
    }
    let output = rustc.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Writes a copy of `program` without debug information to `stripped`.
///
/// # Panics
///
/// If there is no `objcopy`, or it fails.
pub fn strip_debug(program: &Path, stripped: &Path) {
    let mut objcopy = Command::new("objcopy");
    objcopy.arg("--strip-debug").arg(program).arg(stripped);
    assert!(objcopy.status().expect("`objcopy` comes with the linker").success());
}

/// Runs cargo, and returns the path of the program `name`.
#[track_caller]
fn run(cargo: &mut Command, name: &str) -> PathBuf {
    let executable = |message: &Value| {
        let is_it = message["target"]["name"] == name;
        message["executable"].as_str().filter(|_| is_it).map(PathBuf::from)
    };
    messages(cargo).iter().rev().find_map(executable).expect("cargo says what it built")
}

/// Runs cargo, and returns what it says of each target that it built or has.
#[track_caller]
fn messages(cargo: &mut Command) -> Vec<Value> {
    let output = cargo.args(["--message-format", "json-render-diagnostics"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Returns a cargo command that puts programs into `programs` and reuses the build of the tests.
fn cargo(target: &Path, programs: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // In a member's folder cargo would build for that member alone, with other features of the shared crates.
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    command.env("CARGO_TARGET_DIR", programs);
    // The folder that contains `target/tmp`. A cargo that doesn't know the variable builds everything once more.
    command.env("CARGO_BUILD_BUILD_DIR", target.parent().expect("it is in a folder"));
    command
}
