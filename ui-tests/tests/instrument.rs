//! `#[tokio_statemap::instrument]` changes nothing but what is recorded.
//!
//! Each case is compiled twice: as it is written, and without the attribute.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ui_tests::{Built, Case, Dependencies, Package, Project, cases, diff, left_out, run};

const TMP: &str = env!("CARGO_TARGET_TMPDIR");

#[test]
fn instrumented_with_recording() {
    twins("instrument", Dependencies::AsyncTraitRecording);
}

#[test]
fn instrumented_without_recording() {
    twins("instrument-off", Dependencies::AsyncTraitOff);
}

/// What the recorder is told of functions, which these programs look at.
#[test]
fn functions_are_known() {
    let cases = cases("instrument/own/ok");
    let dependencies = Dependencies::AsyncTraitRecording;
    let packages = Package::of("instrument-own-ok", dependencies, &cases);
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

/// The lints of clippy find nothing that they don't find in the plain function. (They find less: each
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
    let mut packages = Package::of(&format!("{name}-plain"), Dependencies::AsyncTrait, &plain);
    packages.extend(Package::of(&format!("{name}-ours"), dependencies, cases));
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

/// The diagnostics but for two differences, which nothing can be done about: that the body is a block in the
/// function shows in the messages about a `?`, and what is wrong with the name of the type that it returns
/// is told twice.
fn in_words(built: &Built) -> String {
    let mut built = built.clone();
    built.diagnostics.dedup();
    built.text().replace("in an async block that returns", "in an async function that returns")
}

fn twins(name: &str, dependencies: Dependencies) {
    let (ok, err) = (cases("instrument/ok"), cases("instrument/err"));
    let all: Vec<Case> = ok.iter().chain(&err).cloned().collect();
    let project = project(name, dependencies, &all);
    let built = project.build();

    let mut failures = String::new();
    for case in &all {
        let (plain, ours) = both(&project, &built, name, case);
        same_diagnostics(case, &plain, &ours, &mut failures);
    }
    for case in &err {
        let (plain, ours) = both(&project, &built, name, case);
        if plain.program.is_some() || ours.program.is_some() || plain.diagnostics.is_empty() {
            writeln!(failures, "{}: it compiles", case.name).unwrap();
        }
    }
    for case in &ok {
        let (plain, ours) = both(&project, &built, name, case);
        let (Some(plain), Some(ours)) = (&plain.program, &ours.program) else {
            writeln!(
                failures,
                "{}: it doesn't compile:\n{}{}",
                case.name,
                plain.text(),
                ours.text()
            )
            .unwrap();
            continue;
        };
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
    println!("{name}: {} programs and {} errors compared", ok.len(), err.len());
    assert!(failures.is_empty(), "\n{failures}");
}
