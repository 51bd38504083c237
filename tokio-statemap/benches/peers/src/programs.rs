//! The measured programs: this one, and builds with other features.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::variants::Variant;

/// The features of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Build {
    Plain,
    /// Tokio with its spans.
    Spans,
    /// Our crate with its static trace points.
    Sdt,
    /// Our crate without `stacks`.
    NoStacks,
}

/// The paths of the builds.
pub(crate) struct Programs {
    plain: PathBuf,
    /// The paths of the other builds that were made.
    others: BTreeMap<Build, PathBuf>,
}

impl Programs {
    /// Builds the programs for these variants.
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

    /// Returns those of `variants` that could be built.
    pub(crate) fn built(&self, variants: &[Variant]) -> Vec<Variant> {
        variants.iter().copied().filter(|&variant| self.path(variant).is_some()).collect()
    }

    /// Returns the program that has `variant`.
    pub(crate) fn path(&self, variant: Variant) -> Option<&Path> {
        match variant.build() {
            Build::Plain => Some(&self.plain),
            other => self.others.get(&other).map(PathBuf::as_path),
        }
    }
}

impl Build {
    /// Returns the program, or the reason why there is none; `None` if it is this program.
    fn make(self) -> Option<Result<PathBuf, String>> {
        let (name, target, options): (_, _, &[&str]) = match self {
            Self::Plain => return None,
            Self::Spans => ("spans", "spans", &["--features", "console"]),
            // It needs the same.
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

/// Builds with `arguments` in a target folder `name` next to this program's, and returns the folder
/// of the programs.
pub(crate) fn build(name: &str, arguments: &[&str]) -> Result<PathBuf, String> {
    eprintln!("building {name}…");
    let program = env::current_exe().expect("a program knows its path");
    let target = program.ancestors().nth(2).expect("it is in target/release").join(name);
    // Cargo also finds the flag for Tokio there.
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

/// Runs a child process that must not fail, and returns its stdout and stderr.
pub(crate) fn output_of(command: &mut Command) -> (String, String) {
    // Otherwise hotpath starts a server, and two of them would want the same port.
    command.env("HOTPATH_METRICS_SERVER_OFF", "1");
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}: {stderr}", output.status);
    (stdout, stderr)
}

/// Returns a command that runs this program as a child process.
pub(crate) fn this() -> Command {
    Command::new(env::current_exe().expect("a program knows its path"))
}
