//! Builds programs that cargo doesn't build for the tests.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds with `cargo ARGUMENTS` and returns the path of the program `name`.
///
/// `target` is cargo's folder for what tests leave. Programs go to a folder of their own in it;
/// crates that the tests were built with are not built again.
///
/// # Panics
///
/// If the build fails.
pub fn build(target: &Path, arguments: &[&str], name: &str) -> PathBuf {
    let mut command = cargo(target, &target.join("command"));
    // With an example cargo counts the features that dev-dependencies ask for, as in `cargo test`: so it takes what that built.
    command.args(arguments).args(["--example", "basic"]);
    command.args(["--message-format", "json-render-diagnostics"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout).unwrap();
    let messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
    let executable = |message: serde_json::Value| {
        let is_it = message["target"]["name"] == name;
        message["executable"].as_str().filter(|_| is_it).map(PathBuf::from)
    };
    messages.filter_map(executable).next_back().expect("cargo says what it built")
}

/// Builds a program of this package with `more` arguments, in the same place.
///
/// # Panics
///
/// If the build fails.
pub fn build_program(target: &Path, name: &str, more: &[&str]) -> PathBuf {
    let arguments = ["build", "--bin", name];
    build(target, &[&arguments, more].concat(), name)
}

/// Cargo, that puts programs into `programs`, and takes what it can from the tests' own build.
pub fn cargo(target: &Path, programs: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // Where `cargo test` is called, too: in a member's folder cargo would build for that member alone, with other features
    // of the crates that they share.
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    command.env("CARGO_TARGET_DIR", programs);
    // `target/tmp` is in it. A cargo that doesn't know the variable builds all of it once more.
    command.env("CARGO_BUILD_BUILD_DIR", target.parent().expect("it is in a folder"));
    command
}
