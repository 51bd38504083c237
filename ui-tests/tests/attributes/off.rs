//! Without the feature `record` the attribute is `#[tokio::main]`, `instrument` is nothing, and
//! none of our code is linked.
//!
//! (`twins.rs` checks that rustc's messages are the same, and `own.rs` that `configure` and `hooks`
//! still apply.)

use std::collections::BTreeMap;
use std::path::PathBuf;

use ui_tests::{Case, Dependencies, Package, Project, cases, compiler, diff, in_parallel};

const TMP: &str = env!("CARGO_TARGET_TMPDIR");

/// The text of the expanded program as printed by rustc is exactly the same.
#[test]
fn expansion_is_that_of_tokio() {
    let package =
        Package { name: "expanded".to_owned(), dependencies: Dependencies::Off, cases: Vec::new() };
    let project = Project::new(TMP, "expanded", vec![package]);
    let libraries = project.libraries();

    let cases = cases("ok");
    let failures = in_parallel(&cases, |case| {
        let tokio = expanded(&project, &libraries, case);
        // Remaining names of our attributes are in the program's own text: a `use`, a macro.
        let ours = expanded(&project, &libraries, &case.ours())
            .replace("tokio_statemap::main", "tokio::main")
            .replace("tokio_statemap::test", "tokio::test");
        assert!(tokio.contains("Builder"), "{}:\n{tokio}", case.name);
        let diff = diff(&tokio, &ours);
        if diff.is_empty() {
            return String::new();
        }
        format!("{}: not the same expansion (- Tokio's, + ours):\n{diff}\n", case.name)
    })
    .concat();
    println!("{} expansions compared", cases.len());
    assert!(failures.is_empty(), "\n{failures}");
}

/// The cases whose text isn't compared. One needs another crate; for the other, macros are printed,
/// which contain attributes.
pub(crate) const LEFT_OUT: &[&str] = &["instrument-ok-async_trait", "instrument-ok-hygiene"];

/// Nothing of `instrument` is left.
#[test]
fn instrumented_functions_are_as_written() {
    let dependencies = Dependencies::Off;
    let package = Package { name: "as-written".to_owned(), dependencies, cases: Vec::new() };
    let project = Project::new(TMP, "as-written", vec![package]);
    let libraries = project.libraries();
    let all = cases("instrument/ok");
    let compared: Vec<&Case> = all.iter().filter(|case| !LEFT_OUT.contains(&&*case.name)).collect();
    let failures = in_parallel(&compared, |case| {
        // The line of an attribute leaves a blank line.
        let lines = |case: &Case| {
            let text = expanded(&project, &libraries, case);
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            lines.collect::<Vec<_>>().join("\n")
        };
        let diff = diff(&lines(&case.plain()), &lines(case));
        if diff.is_empty() {
            return String::new();
        }
        format!("{}: not as written (- plain, + ours):\n{diff}\n", case.name)
    })
    .concat();
    assert!(failures.is_empty(), "\n{failures}");
}

/// Returns the case's text after all expansions. Some contain the name of the file, so both sides
/// use the same file, one after the other.
fn expanded(project: &Project, libraries: &BTreeMap<String, PathBuf>, case: &Case) -> String {
    let file = project.folder().join(format!("{}.rs", case.name));
    std::fs::write(&file, &case.source).expect("the case can be written");
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let mut rustc = compiler(rustc, libraries, case, &file);
    // Only unstable versions of rustc print the expansion. This makes any version act as one, for
    // this call.
    rustc.env("RUSTC_BOOTSTRAP", "1").arg("-Zunpretty=expanded");
    let output = rustc.output().expect("rustc can be run");
    assert!(output.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The code that records isn't even compiled.
#[test]
fn nothing_that_records_is_compiled() {
    let package = |name: &str, dependencies| Package {
        name: name.to_owned(),
        dependencies,
        cases: Vec::new(),
    };
    let packages =
        vec![package("tree-off", Dependencies::Off), package("tree-tokio", Dependencies::Tokio)];
    let project = Project::new(TMP, "tree-off", packages);
    let (off, tokio) = (project.tree("tree-off"), project.tree("tree-tokio"));

    let added: Vec<&String> = off.iter().filter(|name| !tokio.contains(name)).collect();
    println!("without `record`, beside Tokio: {added:?}");
    let names: Vec<&str> = added.iter().filter_map(|name| name.split(' ').next()).collect();
    assert_eq!(names, ["tokio-statemap", "tokio-statemap-macros"]);
}

/// Checks the dependencies that a user's crate gets with `record`.
#[test]
fn few_packages_are_added() {
    let package = |name: &str, dependencies| Package {
        name: name.to_owned(),
        dependencies,
        cases: Vec::new(),
    };
    let packages = vec![
        package("tree-ours", Dependencies::OnlyRecording),
        package("tree-no-html", Dependencies::WithoutHtml),
        package("tree-only-tokio", Dependencies::OnlyTokio),
    ];
    let project = Project::new(TMP, "tree-record", packages);
    let (ours, tokio) = (project.tree("tree-ours"), project.tree("tree-only-tokio"));
    let without_html = project.tree("tree-no-html");

    let added: Vec<&String> = ours.iter().filter(|name| !tokio.contains(name)).collect();
    println!("with `record`, beside Tokio: {} packages: {added:?}", added.len());
    assert!(added.len() <= 25);
    assert!(added.iter().any(|package| package.starts_with("itoa")));

    let for_html = ours.iter().filter(|name| !without_html.contains(name));
    let for_html: Vec<&str> = for_html.filter_map(|name| name.split(' ').next()).collect();
    println!("of which for `html`: {for_html:?}");
    assert_eq!(for_html, ["adler2", "base64", "miniz_oxide"]);
}
