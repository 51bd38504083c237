//! Builds programs that cargo doesn't build for the tests.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds with `cargo ARGUMENTS` and returns the path of the program `name`.
///
/// It has a target folder of its own, as the one of the tests may be locked.
///
/// # Panics
///
/// If the build fails.
pub fn build(target: &Path, arguments: &[&str], name: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).args(["--message-format", "json-render-diagnostics"]);
    command.arg("--target-dir").arg(target.join("command"));
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout).unwrap();
    let messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
    let executable = |message: serde_json::Value| {
        let is_it = message["target"]["name"] == name;
        message["executable"].as_str().filter(|_| is_it).map(PathBuf::from)
    };
    messages.filter_map(executable).next_back().expect("cargo says what it built")
}
