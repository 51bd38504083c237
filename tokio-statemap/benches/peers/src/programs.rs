//! The programs that are measured: this one, and builds with other features.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::variants::Variant;

/// Where the builds are.
pub(crate) struct Programs {
    plain: PathBuf,
    /// The build with Tokio's spans, or why there is none.
    spans: Result<PathBuf, String>,
}

impl Programs {
    pub(crate) fn build() -> Self {
        let plain = env::current_exe().expect("a program knows its path");
        let spans = build("spans", &["--features", "console", "--bin", "peers"]);
        if let Err(why) = &spans {
            eprintln!("no console-subscriber: {why}");
        }
        Self { plain, spans: spans.map(|folder| folder.join("peers")) }
    }

    /// Those of `variants` that could be built.
    pub(crate) fn built(&self, variants: &[Variant]) -> Vec<Variant> {
        variants.iter().copied().filter(|&variant| self.of(variant).is_some()).collect()
    }

    /// The program that has `variant`.
    pub(crate) fn of(&self, variant: Variant) -> Option<&Path> {
        match variant.needs_spans() {
            true => self.spans.as_deref().ok(),
            false => Some(&self.plain),
        }
    }
}

/// Builds with `arguments` in a target folder `name` beside this program's; where the programs are then.
pub(crate) fn build(name: &str, arguments: &[&str]) -> Result<PathBuf, String> {
    eprintln!("building {name}…");
    let program = env::current_exe().expect("a program knows its path");
    let target = program.ancestors().nth(2).expect("it is in target/release").join(name);
    // There cargo finds the flag for Tokio, too.
    let status = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["build", "--quiet", "--release", "--locked", "--target-dir"])
        .arg(&target)
        .args(arguments)
        .status();
    match status {
        Ok(status) if status.success() => Ok(target.join("release")),
        Ok(status) => Err(format!("cargo: {status}")),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// Runs a child process that prints JSON.
pub(crate) fn json_of(command: &mut Command) -> Value {
    let output = output_of(command);
    serde_json::from_str(&output.0).unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Runs a child process that must not fail: stdout, stderr.
pub(crate) fn output_of(command: &mut Command) -> (String, String) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}: {stderr}", output.status);
    (stdout, stderr)
}

/// This program as a child process.
pub(crate) fn this() -> Command {
    Command::new(env::current_exe().expect("a program knows its path"))
}
