//! The keys of this crate: each misuse has its exact message and place, and each use compiles and
//! runs.
//!
//! The messages are in `.txt` files next to the cases. A missing file is a failure;
//! `UPDATE_GOLDEN=1` in the environment rewrites them.

use std::fmt::Write as _;
use std::fs;

use ui_tests::{Dependencies, Package, Project, cases, diff, run};

const TMP: &str = env!("CARGO_TARGET_TMPDIR");

#[test]
fn misuse_has_its_message() {
    misuse("own-err", "own/err", Dependencies::Recording);
}

/// Without the features `html` and `svg` their keys are errors that name them.
#[test]
fn pictures_need_their_features() {
    misuse("own-no-pictures-err", "own/no_pictures/err", Dependencies::RecordAlone);
}

#[test]
fn misuse_of_instrument_has_its_message() {
    misuse("instrument-own-err", "instrument/own/err", Dependencies::Recording);
}

fn misuse(name: &str, folder: &str, dependencies: Dependencies) {
    let cases = cases(folder);
    let packages = Package::group(name, dependencies, &cases);
    let project = Project::new(TMP, name, packages);
    let built = project.build();
    let update = std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1");

    let mut failures = String::new();
    for case in &cases {
        let built = &built[&project.target(name, case)];
        if built.compiles {
            writeln!(failures, "{}: it compiles", case.name).unwrap();
        }
        let golden = case.path.with_extension("txt");
        if update {
            fs::write(&golden, built.golden()).expect("the golden file can be written");
            continue;
        }
        match fs::read_to_string(&golden) {
            Err(err) => writeln!(
                failures,
                "{}: {}: {err}; rustc says:\n{}",
                case.name,
                golden.display(),
                built.text()
            )
            .unwrap(),
            Ok(expected) => {
                let diff = diff(&expected, &built.golden());
                if !diff.is_empty() {
                    writeln!(
                        failures,
                        "{}: not the diagnostics of its golden file (- golden, + rustc):\n{diff}",
                        case.name
                    )
                    .unwrap();
                }
            }
        }
    }
    println!("{} errors compared", cases.len());
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn use_compiles_and_runs() {
    use_of_keys("own-ok", "own/ok", Dependencies::Recording, true);
}

/// Without `record` the keys are still accepted, `configure` and `hooks` still apply, and nothing
/// is written.
#[test]
fn use_compiles_and_runs_without_recording() {
    use_of_keys("own-off", "own/ok", Dependencies::Off, false);
}

/// Without the feature `html` the default is the data.
#[test]
fn use_compiles_and_runs_without_html() {
    use_of_keys("own-no-pictures", "own/no_pictures/ok", Dependencies::RecordAlone, true);
}

fn use_of_keys(name: &str, folder: &str, dependencies: Dependencies, writes: bool) {
    let cases = cases(folder);
    let project = Project::new(TMP, name, Package::group(name, dependencies, &cases));
    let built = project.build();

    let mut failures = String::new();
    for case in &cases {
        let built = &built[&project.target(name, case)];
        let Some(program) = &built.program else {
            writeln!(failures, "{}: it doesn't compile:\n{}", case.name, built.text()).unwrap();
            continue;
        };
        // Without `record`, items named only by a path expression are unused.
        let unused = |text: &str| !writes && text.contains("is never used");
        if !built.diagnostics.iter().all(|diagnostic| unused(&diagnostic.message)) {
            writeln!(failures, "{}: it has warnings:\n{}", case.name, built.text()).unwrap();
        }
        let folder = project.folder().join("run").join(&case.name);
        let ended = run(program, &folder);
        if !ended.status.success() {
            writeln!(failures, "{}: {}\n{}{}", case.name, ended.status, ended.stdout, ended.stderr)
                .unwrap();
        }
        for (file, text) in &case.writes {
            let found = fs::read_to_string(folder.join(file)).ok();
            if found.is_some() != writes {
                let not = if writes { "not " } else { "" };
                writeln!(failures, "{}: {file} was {not}written", case.name).unwrap();
            }
            if found.is_some_and(|found| !found.contains(text)) {
                writeln!(failures, "{}: {file} doesn't contain {text}", case.name).unwrap();
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}
