//! The cases: small programs in files.

use std::fs;
use std::path::{Path, PathBuf};

/// A program in a file below `cases/`.
///
/// Its head may have lines that start with `//@`: `//@ edition: 2021` (the default is 2024), `//@
/// test` (it is built as a test), `//@ no-run` (it is only built), `//@ writes: FILE` (running it
/// leaves this file), `//@ writes: FILE: TEXT` (with this text in it).
#[derive(Clone, Debug)]
pub struct Case {
    /// The path below `cases/` without the extension, `/` replaced by `-`.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The file's content.
    pub source: String,
    /// The edition that it is written in.
    pub edition: String,
    /// The kind of program.
    pub kind: Kind,
    /// `true` if it can be run.
    pub run: bool,
    /// The files that running it leaves, each with a text that it contains.
    pub writes: Vec<(String, String)>,
}

/// The kind of program that a case is built as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program.
    Bin,
    /// A test.
    Test,
}

impl Case {
    fn read(root: &Path, path: PathBuf) -> Self {
        let source = fs::read_to_string(&path).unwrap_or_else(|err| panic!("{path:?}: {err}"));
        let name = path
            .strip_prefix(root)
            .expect("a case is below the folder of the cases")
            .with_extension("")
            .to_string_lossy()
            .replace(['/', '\\'], "-");
        let mut case = Self {
            name,
            path,
            edition: "2024".to_owned(),
            kind: Kind::Bin,
            run: true,
            writes: Vec::new(),
            source: String::new(),
        };
        for line in source.lines() {
            let Some(directive) = line.strip_prefix("//@ ") else {
                break;
            };
            match directive.split_once(": ").unwrap_or((directive, "")) {
                ("edition", edition) => case.edition = edition.to_owned(),
                ("test", "") => case.kind = Kind::Test,
                ("no-run", "") => case.run = false,
                ("writes", rest) => {
                    let (file, text) = rest.split_once(": ").unwrap_or((rest, ""));
                    case.writes.push((file.to_owned(), text.to_owned()));
                }
                _ => panic!("{}: no such directive: {directive}", case.path.display()),
            }
        }
        case.source = source;
        case
    }

    /// Returns the case with Tokio's attributes replaced by ours.
    pub fn ours(&self) -> Self {
        Self {
            source: self
                .source
                .replace("tokio::main", "tokio_statemap::main")
                .replace("tokio::test", "tokio_statemap::test"),
            ..self.clone()
        }
    }

    /// Returns the case with clippy's lint groups enabled.
    pub fn with_all_lints(&self) -> Self {
        let directives = self.source.lines().take_while(|line| line.starts_with("//@"));
        let at = directives.map(|line| line.len() + 1).sum::<usize>();
        let (head, rest) = self.source.split_at(at);
        let lints = "#![warn(clippy::all, clippy::pedantic, clippy::nursery)]";
        Self { source: format!("{head}{lints}\n{rest}"), ..self.clone() }
    }

    /// Returns the case without the attribute `instrument`, with everything else at its line and
    /// column.
    pub fn plain(&self) -> Self {
        let is_attribute = |line: &str| line.contains(INSTRUMENT) && line.ends_with(']');
        let lines = self.source.lines().map(|line| if is_attribute(line) { "" } else { line });
        let source = lines.collect::<Vec<_>>().join("\n") + "\n";
        assert!(!source.contains(INSTRUMENT), "{}: an attribute is left", self.path.display());
        Self { source, ..self.clone() }
    }
}

/// The attribute, which has its own line.
const INSTRUMENT: &str = "tokio_statemap::instrument";

/// Returns the cases in a folder below `cases/`, by name.
///
/// # Panics
///
/// Panics if there are none, as a test of no cases would prove nothing.
pub fn cases(folder: &str) -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut cases: Vec<Case> = fs::read_dir(root.join(folder))
        .unwrap_or_else(|err| panic!("cases/{folder}: {err}"))
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| Case::read(&root, path))
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!cases.is_empty(), "cases/{folder} has no cases");
    cases
}
