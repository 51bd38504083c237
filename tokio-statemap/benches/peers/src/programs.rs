//! The programs that are measured: this one, and builds with other features.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::variants::Variant;

/// The features that a program is built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Build {
    Plain,
    /// Tokio with its spans.
    Spans,
    /// Ours with its static trace points.
    Sdt,
    /// Ours without `stacks`.
    NoStacks,
}

/// Where the builds are.
pub(crate) struct Programs {
    plain: PathBuf,
    /// Those of the other builds that were made.
    others: BTreeMap<Build, PathBuf>,
}

impl Programs {
    /// Builds what these need.
    pub(crate) fn build(variants: impl Iterator<Item = Variant>) -> Self {
        let plain = env::current_exe().expect("a program knows its path");
        let mut others = BTreeMap::new();
        let builds: BTreeSet<_> = variants.map(Variant::build).collect();
        for of in builds {
            match of.make() {
                Some(Ok(program)) => drop(others.insert(of, program)),
                Some(Err(why)) => eprintln!("no {of:?}: {why}"),
                None => {}
            }
        }
        Self { plain, others }
    }

    /// Those of `variants` that could be built.
    pub(crate) fn built(&self, variants: &[Variant]) -> Vec<Variant> {
        variants.iter().copied().filter(|&variant| self.of(variant).is_some()).collect()
    }

    /// The program that has `variant`.
    pub(crate) fn of(&self, variant: Variant) -> Option<&Path> {
        match variant.build() {
            Build::Plain => Some(&self.plain),
            other => self.others.get(&other).map(PathBuf::as_path),
        }
    }
}

impl Build {
    /// The program, or why there is none. `None`: it is this one.
    fn make(self) -> Option<Result<PathBuf, String>> {
        let (name, target, options): (_, _, &[&str]) = match self {
            Self::Plain => return None,
            Self::Spans => ("spans", "spans", &["--features", "console"]),
            // What they need is the same.
            Self::Sdt => ("sdt", "ours", &["--features", "sdt"]),
            Self::NoStacks => ("no-stacks", "ours", &["--no-default-features"]),
        };
        let folder = build(target, &[&["--bin", "peers"], options].concat());
        Some(folder.and_then(|folder| {
            let program = folder.join(format!("peers-{name}"));
            let copied = std::fs::copy(folder.join("peers"), &program);
            copied.map(|_| program).map_err(|error| error.to_string())
        }))
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
    // hotpath answers requests otherwise, and two of it would want the same port.
    command.env("HOTPATH_METRICS_SERVER_OFF", "1");
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
