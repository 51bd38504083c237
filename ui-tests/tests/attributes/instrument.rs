//! `#[tokio_statemap::instrument]` changes nothing except that calls are recorded.
//!
//! Each case is compiled as written, with and without recording, and without the attribute.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use ui_tests::{Built, Case, Dependencies, Package, Project, cases, diff, left_out, run};

const TMP: &str = env!("CARGO_TARGET_TMPDIR");

/// The cases with and without the attribute, with recording. The plain functions are compiled only
/// here: without recording they would be the same.
static RECORDING: LazyLock<(Project, BTreeMap<String, Built>)> = LazyLock::new(|| {
    let (ok, err) = (cases("instrument/ok"), cases("instrument/err"));
    let all: Vec<Case> = ok.into_iter().chain(err).collect();
    let project = project("instrument", Dependencies::AsyncTraitRecording, &all);
    let built = project.build();
    (project, built)
});

#[test]
fn instrumented_with_recording() {
    let (project, built) = &*RECORDING;
    let (ok, err) = (cases("instrument/ok"), cases("instrument/err"));
    let mut failures = same_words(&ok, &err, |case| both(project, built, "instrument", case));
    for case in &ok {
        let (plain, ours) = both(project, built, "instrument", case);
        if let (Some(plain), Some(ours)) = (&plain.program, &ours.program) {
            same_end(case, project, plain, ours, &mut failures);
        }
    }
    println!("{} programs and {} errors compared", ok.len(), err.len());
    assert!(failures.is_empty(), "\n{failures}");
}

/// No program is linked or run for this. Except for two cases, which are built and run, the text is
/// that of the plain function, as `off.rs` checks.
#[test]
fn instrumented_without_recording() {
    let (ok, err) = (cases("instrument/ok"), cases("instrument/err"));
    let all: Vec<Case> = ok.iter().chain(&err).cloned().collect();
    let packages = Package::group("instrument-off-ours", Dependencies::AsyncTraitOff, &all);
    let off = Project::new(TMP, "instrument-off", packages);
    let checked = off.check();
    let (project, built) = &*RECORDING;
    let plain = |case: &Case| built[&project.target("instrument-plain", case)].clone();
    let ours = |case: &Case| checked[&off.target("instrument-off-ours", case)].clone();
    let failures = same_words(&ok, &err, |case| (plain(case), ours(case)));
    println!("{} programs and {} errors compared", ok.len(), err.len());
    assert!(failures.is_empty(), "\n{failures}");
}

/// The cases whose text isn't compared.
#[test]
fn instrumented_without_recording_where_the_text_differs() {
    let mut failures = String::new();
    let mut ok = cases("instrument/ok");
    ok.retain(|case| super::off::LEFT_OUT.contains(&&*case.name));
    assert_eq!(ok.len(), super::off::LEFT_OUT.len());
    let packages = Package::group("instrument-off-run-ours", Dependencies::AsyncTraitOff, &ok);
    let off = Project::new(TMP, "instrument-off-run", packages);
    let ours = off.build();
    let (project, built) = &*RECORDING;
    for case in &ok {
        let plain = &built[&project.target("instrument-plain", case)].program;
        let ours = &ours[&off.target("instrument-off-run-ours", case)].program;
        let (Some(plain), Some(ours)) = (plain, ours) else { panic!("{} isn't built", case.name) };
        same_end(case, &off, plain, ours, &mut failures);
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// The programs check the data that the recorder has about functions.
#[test]
fn functions_are_known() {
    let cases = cases("instrument/own/ok");
    let dependencies = Dependencies::AsyncTraitRecording;
    let packages = Package::group("instrument-own-ok", dependencies, &cases);
    let project = Project::new(TMP, "instrument-own-ok", packages);
    let built = project.build();
    for case in &cases {
        let built = &built[&project.target("instrument-own-ok", case)];
        let program = built.program.as_ref();
        assert!(built.diagnostics.is_empty() && program.is_some(), "{}", built.text());
        let ended =
            run(program.expect("it is there"), &project.folder().join("run").join(&case.name));
        assert!(ended.status.success(), "{}: {}\n{}", case.name, ended.status, ended.stderr);
    }
}

/// Clippy finds nothing that it doesn't find in the plain function. (It finds less, as each
/// function awaits something.)
#[test]
fn instrumented_under_clippy() {
    let ok: Vec<Case> = cases("instrument/ok").iter().map(Case::with_all_lints).collect();
    let project = project("instrument-clippy", Dependencies::AsyncTraitRecording, &ok);
    let version = project.cargo("clippy").arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        left_out(
            "instrumented functions under clippy",
            "`rustup component add clippy` installs it",
        );
        return;
    }
    let built = project.clippy();
    let mut failures = String::new();
    for case in &ok {
        let (plain, ours) = both(&project, &built, "instrument-clippy", case);
        for added in ours.diagnostics.iter().filter(|found| !plain.diagnostics.contains(found)) {
            writeln!(failures, "{}: {added}", case.name).unwrap();
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

fn project(name: &str, dependencies: Dependencies, cases: &[Case]) -> Project {
    let plain: Vec<Case> = cases.iter().map(Case::plain).collect();
    let mut packages = Package::group(&format!("{name}-plain"), Dependencies::AsyncTrait, &plain);
    packages.extend(Package::group(&format!("{name}-ours"), dependencies, cases));
    Project::new(TMP, name, packages)
}

fn both(
    project: &Project,
    built: &BTreeMap<String, Built>,
    name: &str,
    case: &Case,
) -> (Built, Built) {
    let of = |side: &str| built[&project.target(&format!("{name}-{side}"), case)].clone();
    (of("plain"), of("ours"))
}

fn same_diagnostics(case: &Case, plain: &Built, ours: &Built, failures: &mut String) {
    let diff = diff(&in_words(plain), &in_words(ours));
    if !diff.is_empty() {
        writeln!(failures, "{}: not the same diagnostics (- plain, + ours):\n{diff}", case.name)
            .unwrap();
    }
}

/// Returns the diagnostics without two unavoidable differences: messages about a `?` show that the
/// body is a block in the function, and an error in the name of the return type appears twice.
fn in_words(built: &Built) -> String {
    let mut built = built.clone();
    built.diagnostics.dedup();
    built.text().replace("in an async block that returns", "in an async function that returns")
}

/// Returns the differences between rustc's messages. `both` returns the results for a case without
/// and with the attribute.
fn same_words(ok: &[Case], err: &[Case], both: impl Fn(&Case) -> (Built, Built)) -> String {
    let mut failures = String::new();
    for case in ok.iter().chain(err) {
        let (plain, ours) = both(case);
        same_diagnostics(case, &plain, &ours, &mut failures);
    }
    for case in err {
        let (plain, ours) = both(case);
        if plain.compiles || ours.compiles || plain.diagnostics.is_empty() {
            writeln!(failures, "{}: it compiles", case.name).unwrap();
        }
    }
    for case in ok {
        let (plain, ours) = both(case);
        if !plain.compiles || !ours.compiles {
            let (plain, ours) = (plain.text(), ours.text());
            writeln!(failures, "{}: it doesn't compile:\n{plain}{ours}", case.name).unwrap();
        }
    }
    failures
}

fn same_end(case: &Case, project: &Project, plain: &Path, ours: &Path, failures: &mut String) {
    let folder = project.folder().join("run").join(&case.name);
    let plain = run(plain, &folder.join("plain"));
    let ours = run(ours, &folder.join("ours"));
    if plain.status != ours.status || !plain.status.success() {
        writeln!(
            failures,
            "{}: {} without the attribute, {} with it:\n{}",
            case.name, plain.status, ours.status, ours.stderr
        )
        .unwrap();
    }
    let diff = diff(&plain.stdout, &ours.stdout);
    if !diff.is_empty() {
        writeln!(failures, "{}: not the same output (- plain, + ours):\n{diff}", case.name)
            .unwrap();
    }
}
