//! A function that compiles under `#[tokio::main]` also compiles under `#[tokio_statemap::main]`
//! and ends the same way; one that doesn't gets the same errors at the same line and column.
//!
//! Each case is compiled as written, and with our attributes in place of Tokio's, with and without
//! recording.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use ui_tests::{Built, Case, Dependencies, Kind, Package, Project, cases, diff, left_out, run};

const TMP: &str = env!("CARGO_TARGET_TMPDIR");

/// The cases under both attributes, with recording. Tokio's are compiled only here: without
/// recording they would be the same.
static RECORDING: LazyLock<(Project, BTreeMap<String, Built>)> = LazyLock::new(|| {
    let (ok, err) = (cases("ok"), cases("err"));
    let all: Vec<Case> = ok.into_iter().chain(err).collect();
    let project = project("record", Dependencies::Recording, &all);
    let built = project.build();
    (project, built)
});

#[test]
fn twins_with_recording() {
    let (project, built) = &*RECORDING;
    let (ok, err) = (cases("ok"), cases("err"));
    let mut failures = same_words(&ok, &err, |case| both(project, built, "record", case));
    for case in ok.iter().filter(|case| case.run) {
        let (tokio, ours) = both(project, built, "record", case);
        if let (Some(tokio), Some(ours)) = (&tokio.program, &ours.program) {
            same_end(case, project.folder(), tokio, ours, &mut failures);
        }
    }
    println!("{} programs and {} errors compared", ok.len(), err.len());
    assert!(failures.is_empty(), "\n{failures}");
}

/// No program is linked or run for this: its text is exactly that under Tokio's attribute, as
/// `off.rs` checks. Only the spans are not in the text.
#[test]
fn twins_without_recording() {
    let (ok, err) = (cases("ok"), cases("err"));
    let ours: Vec<Case> = ok.iter().chain(&err).map(Case::ours).collect();
    let packages = Package::group("off-ours", Dependencies::Off, &ours);
    let off = Project::new(TMP, "off", packages);
    let checked = off.check();
    let (project, built) = &*RECORDING;
    let failures = same_words(&ok, &err, |case| {
        let tokio = built[&project.target("record-tokio", case)].clone();
        (tokio, under_names_of_tokio(case, &checked[&off.target("off-ours", case)]))
    });
    println!("{} programs and {} errors compared", ok.len(), err.len());
    assert!(failures.is_empty(), "\n{failures}");
}

/// Clippy finds nothing in our expansion that it doesn't find in Tokio's.
#[test]
fn twins_under_clippy() {
    let ok: Vec<Case> = cases("ok").iter().map(Case::with_all_lints).collect();
    let project = project("clippy", Dependencies::Recording, &ok);
    if !project
        .cargo("clippy")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        left_out("the twins under clippy", "`rustup component add clippy` installs it");
        return;
    }
    let built = project.clippy();
    let mut failures = String::new();
    for case in &ok {
        let (tokio, ours) = both(&project, &built, "clippy", case);
        same_diagnostics(case, &tokio, &ours, &mut failures);
    }
    assert!(failures.is_empty(), "\n{failures}");
}

fn project(name: &str, dependencies: Dependencies, cases: &[Case]) -> Project {
    let ours: Vec<Case> = cases.iter().map(Case::ours).collect();
    let mut packages = Package::group(&format!("{name}-tokio"), Dependencies::Tokio, cases);
    packages.extend(Package::group(&format!("{name}-ours"), dependencies, &ours));
    Project::new(TMP, name, packages)
}

fn both(
    project: &Project,
    built: &BTreeMap<String, Built>,
    name: &str,
    case: &Case,
) -> (Built, Built) {
    let of = |side: &str| built[&project.target(&format!("{name}-{side}"), case)].clone();
    (of("tokio"), under_names_of_tokio(case, &of("ours")))
}

fn under_names_of_tokio(case: &Case, ours: &Built) -> Built {
    let source = case.ours().source;
    let diagnostics = ours.diagnostics.iter().cloned();
    let mut diagnostics: Vec<_> =
        diagnostics.map(|diagnostic| diagnostic.as_tokio(&source)).collect();
    diagnostics.sort();
    Built { diagnostics, ..ours.clone() }
}

fn same_diagnostics(case: &Case, tokio: &Built, ours: &Built, failures: &mut String) {
    let diff = diff(&tokio.text(), &ours.text());
    if !diff.is_empty() {
        writeln!(failures, "{}: not the same diagnostics (- Tokio's, + ours):\n{diff}", case.name)
            .unwrap();
    }
}

/// Returns the differences between rustc's messages. `both` returns the results for a case under
/// Tokio's attribute and under ours.
fn same_words(ok: &[Case], err: &[Case], both: impl Fn(&Case) -> (Built, Built)) -> String {
    let mut failures = String::new();
    for case in err {
        let (tokio, ours) = both(case);
        if tokio.compiles || ours.compiles {
            writeln!(failures, "{}: it compiles", case.name).unwrap();
        }
        if tokio.diagnostics.is_empty() {
            writeln!(failures, "{}: there are no diagnostics", case.name).unwrap();
        }
        same_diagnostics(case, &tokio, &ours, &mut failures);
    }
    for case in ok {
        let (tokio, ours) = both(case);
        same_diagnostics(case, &tokio, &ours, &mut failures);
        if !tokio.compiles || !ours.compiles {
            writeln!(failures, "{}: it doesn't compile:\n{}", case.name, ours.text()).unwrap();
        }
    }
    failures
}

fn same_end(case: &Case, folder: &Path, tokio: &Path, ours: &Path, failures: &mut String) {
    let folder = folder.join("run").join(&case.name);
    let tokio = run(tokio, &folder.join("tokio"));
    let ours = run(ours, &folder.join("ours"));
    if tokio.status != ours.status {
        writeln!(
            failures,
            "{}: {} under Tokio's attribute, {} under ours, which wrote:\n{}",
            case.name, tokio.status, ours.status, ours.stderr
        )
        .unwrap();
    }
    if case.kind == Kind::Bin && !has_lines(&ours.stderr, &tokio.stderr) {
        writeln!(
            failures,
            "{}: not the same errors: Tokio's\n{}ours\n{}",
            case.name, tokio.stderr, ours.stderr
        )
        .unwrap();
    }
    let stdout = |text: &str| match case.kind {
        Kind::Bin => text.to_owned(),
        Kind::Test => libtest(text),
    };
    let diff = diff(&stdout(&tokio.stdout), &stdout(&ours.stdout));
    if !diff.is_empty() {
        writeln!(failures, "{}: not the same output (- Tokio's, + ours):\n{diff}", case.name)
            .unwrap();
    }
}

/// Returns `true` if the program's own lines on standard error are there in order. Our report may
/// be in between.
fn has_lines(ours: &str, tokio: &str) -> bool {
    let mut ours = ours.lines().map(without_numbers);
    tokio.lines().map(without_numbers).all(|line| ours.any(|other| other == line))
}

/// Returns the line without the threads' ids and the side's name, so that it is the same in each
/// run.
fn without_numbers(line: &str) -> String {
    line.replace("-tokio-", "-ours-")
        .split(|c: char| c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("#")
}

/// Returns the verdicts in a test's output in a fixed order, without measured values.
fn libtest(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().filter(|line| line.starts_with("test ")).collect();
    lines.sort_unstable();
    lines
        .into_iter()
        .map(|line| line.split("; finished in").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}
