//! What compiles under `#[tokio::main]` compiles under `#[tokio_statemap::main]` and ends the same
//! way; what doesn't gets the same errors at the same line and column.
//!
//! Each case is compiled twice: as it is written, and with our attributes in place of Tokio's.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use ui_tests::{Built, Case, Dependencies, Kind, Package, Project, cases, diff, left_out, run};

const TMP: &str = env!("CARGO_TARGET_TMPDIR");

#[test]
fn twins_with_recording() {
    twins("record", Dependencies::Recording);
}

#[test]
fn twins_without_recording() {
    twins("off", Dependencies::Off);
}

/// The lints of clippy find nothing in the expansion that they don't find in Tokio's.
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
    let mut packages = Package::of(&format!("{name}-tokio"), Dependencies::Tokio, cases);
    packages.extend(Package::of(&format!("{name}-ours"), dependencies, &ours));
    Project::new(TMP, name, packages)
}

fn both(
    project: &Project,
    built: &BTreeMap<String, Built>,
    name: &str,
    case: &Case,
) -> (Built, Built) {
    let of = |side: &str| built[&project.target(&format!("{name}-{side}"), case)].clone();
    let (tokio, mut ours) = (of("tokio"), of("ours"));
    let source = case.ours().source;
    ours.diagnostics =
        ours.diagnostics.into_iter().map(|diagnostic| diagnostic.as_tokio(&source)).collect();
    ours.diagnostics.sort();
    (tokio, ours)
}

fn same_diagnostics(case: &Case, tokio: &Built, ours: &Built, failures: &mut String) {
    let diff = diff(&tokio.text(), &ours.text());
    if !diff.is_empty() {
        writeln!(failures, "{}: not the same diagnostics (- Tokio's, + ours):\n{diff}", case.name)
            .unwrap();
    }
}

fn twins(name: &str, dependencies: Dependencies) {
    let (ok, err) = (cases("ok"), cases("err"));
    let all: Vec<Case> = ok.iter().chain(&err).cloned().collect();
    let project = project(name, dependencies, &all);
    let built = project.build();

    let mut failures = String::new();
    for case in &err {
        let (tokio, ours) = both(&project, &built, name, case);
        if tokio.program.is_some() || ours.program.is_some() {
            writeln!(failures, "{}: it compiles", case.name).unwrap();
        }
        if tokio.diagnostics.is_empty() {
            writeln!(failures, "{}: there are no diagnostics", case.name).unwrap();
        }
        same_diagnostics(case, &tokio, &ours, &mut failures);
    }
    for case in &ok {
        let (tokio, ours) = both(&project, &built, name, case);
        same_diagnostics(case, &tokio, &ours, &mut failures);
        let (Some(tokio), Some(ours)) = (&tokio.program, &ours.program) else {
            writeln!(failures, "{}: it doesn't compile:\n{}", case.name, ours.text()).unwrap();
            continue;
        };
        if case.run {
            same_end(case, project.folder(), tokio, ours, &mut failures);
        }
    }
    println!("{name}: {} programs and {} errors compared", ok.len(), err.len());
    assert!(failures.is_empty(), "\n{failures}");
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

/// Whether what the program itself writes to its standard error is there, in its order; between it
/// there may be our report.
fn has_lines(ours: &str, tokio: &str) -> bool {
    let mut ours = ours.lines().map(without_numbers);
    tokio.lines().map(without_numbers).all(|line| ours.any(|other| other == line))
}

/// The line as it is in each run, whatever the threads' ids, and under each side's name.
fn without_numbers(line: &str) -> String {
    line.replace("-tokio-", "-ours-")
        .split(|c: char| c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("#")
}

/// The verdicts in a test's output, without what is measured, and in one order.
fn libtest(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().filter(|line| line.starts_with("test ")).collect();
    lines.sort_unstable();
    lines
        .into_iter()
        .map(|line| line.split("; finished in").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}
