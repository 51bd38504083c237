//! Builds programs that `cargo test` doesn't build.

use std::path::{Path, PathBuf};
use std::process::Command;

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
    /// Optimised as one crate, so that the compiler sees all of Tokio; full debug information.
    Whole,
    /// Linked statically, without unwinding; debug information with lines only.
    Static,
}

/// Builds the programs that are tested in a variant, of the package that has `name`. Returns the path of that one.
///
/// One build makes all programs of the package: they have most dependencies in common, which take most of the time.
///
/// # Panics
///
/// If the build fails, or the variant doesn't have that program.
pub fn build_program(target: &Path, variant: Variant, name: &str) -> PathBuf {
    let (folder, package, programs): (_, _, &[_]) = match (variant, name) {
        (Variant::FullDebug, _) => ("full-debug", "awaits", &["awaits"]),
        (Variant::Release, "awaits") => ("release-awaits", "awaits", &["awaits"]),
        (Variant::Release, _) => ("release", "culprits", &["culprits"]),
        (Variant::Whole, _) => ("whole", "tests", &["folded"]),
        (Variant::Static, _) => ("static", "tests", &["culprits", "unit", "unit_plain"]),
    };
    let mut command = cargo(target, &target.join(folder));
    command.args(["build", "--package", package]);
    command.args(programs.iter().map(|program| format!("--bin={program}")));
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
        Variant::Whole => {
            command.arg("--release");
            let settings =
                [("DEBUG", "full"), ("LTO", "fat"), ("PANIC", "abort"), ("CODEGEN_UNITS", "1")];
            for (key, value) in settings {
                command.env(format!("CARGO_PROFILE_RELEASE_{key}"), value);
            }
        }
        Variant::Static => {
            command.env("CARGO_PROFILE_DEV_PANIC", "abort");
            // With an explicit target, cargo doesn't link procedural macros statically.
            let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
            command.args(["--target", &host]);
            command.args(["--config", "build.rustflags=[\"-Ctarget-feature=+crt-static\"]"]);
        }
    }
    run(&mut command, name)
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
    let output = cargo.args(["--message-format", "json-render-diagnostics"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout).unwrap();
    let messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
    let executable = |message: serde_json::Value| {
        let is_it = message["target"]["name"] == name;
        message["executable"].as_str().filter(|_| is_it).map(PathBuf::from)
    };
    messages.filter_map(executable).next_back().expect("cargo says what it built")
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
